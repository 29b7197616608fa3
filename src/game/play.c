/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The rounds of the game. In a soft round every player shows all that it knows to the players before it in the prompt,
 * and each of these answers it. In a linear round a message goes from the first player of the prompt to the last, and
 * every player may change it.
 */
#include <stdlib.h>
#include <string.h>

#include "table_of_play.h"

/* ---- views ------------------------------------------------------------------------------------------------------- */

size_t rung_game_inputs(const rung_game_view *view)
{
    const rung_game *game = view->play->game;
    return view->player == 0 ? game->functions - 1 : game->tokens[view->player];
}

uint64_t rung_game_input(const rung_game_view *view, size_t index)
{
    return index < rung_game_inputs(view) ? view->play->input[view->player][index] : 0;
}

/* The message that the player got, or NULL if there was none. */
static const game_sent *received(const rung_game_view *view, size_t epoch, size_t round, size_t from)
{
    for (size_t i = 0; i < view->known; i++) {
        const rung_game_letter *l = &view->play->sent[i].letter;
        if (l->to == view->player && l->epoch == epoch && l->round == round && l->from == from)
            return &view->play->sent[i];
    }
    return NULL;
}

static uint64_t read_bits(const rung_game_view *view, const game_sent *sent, uint64_t at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; sent && i < width && i < 64 && at + i < sent->letter.bits; i++) {
        uint8_t byte = (uint8_t)view->play->content.text[sent->offset + (size_t)((at + i) / 8)];
        value |= (uint64_t)(byte >> ((at + i) % 8) & 1) << i;
    }
    return value;
}

uint64_t rung_game_soft(const rung_game_view *view, size_t epoch, size_t from, uint64_t at, unsigned width)
{
    return read_bits(view, received(view, epoch, 0, from), at, width);
}

uint64_t rung_game_linear(const rung_game_view *view, size_t epoch, size_t round, uint64_t at, unsigned width)
{
    return read_bits(view, received(view, epoch, round, view->player + 1), at, width);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

unsigned rung_game_width(uint64_t count)
{
    unsigned width = 0;
    while (width < 64 && (count - 1) >> width) width++;
    return count ? width : 0;
}

void rung_game_send(rung_game_message *out, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width && i < 64; i++) {
        if (out->bits % 8 == 0) rung_buf_putc(&out->bytes, 0);
        if (out->bytes.failed) return;
        uint8_t last = (uint8_t)out->bytes.text[out->bytes.len - 1];
        out->bytes.text[out->bytes.len - 1] = (char)(last | (value >> i & 1) << out->bits % 8);
        out->bits++;
    }
}

void game_play_init(game_play *play, const rung_game *game, const rung_game_protocol *protocol)
{
    memset(play, 0, sizeof *play);
    play->game = game;
    play->protocol = protocol;
    rung_buf_init(&play->content);
    rung_buf_init(&play->message.bytes);
}

void game_play_clear(game_play *play)
{
    free(play->sent);
    rung_buf_clear(&play->content);
    rung_buf_clear(&play->message.bytes);
    memset(play, 0, sizeof *play);
}

static rung_status make_room(game_play *play, rung_error *err)
{
    if (play->count < play->cap) return RUNG_OK;
    size_t cap = play->cap ? 2 * play->cap : 16;
    game_sent *sent = rung_calloc(cap, sizeof *sent, err);
    if (!sent) return RUNG_SYSTEM;
    if (play->count) memcpy(sent, play->sent, play->count * sizeof *sent);
    free(play->sent);
    play->sent = sent;
    play->cap = cap;
    return RUNG_OK;
}

static void break_rule(game_play *play, const rung_game_letter *l)
{
    char from[24], to[24];
    rung_game_player_name(from, l->from);
    rung_game_player_name(to, l->to);
    snprintf(play->broken, sizeof play->broken, "epoch %zu, %s round: %s sends %llu bits to %s, and %llu are allowed",
             l->epoch, l->round ? "linear" : "soft", from, (unsigned long long)l->bits, to,
             (unsigned long long)l->allowed);
}

/* Delivers the message that was written. */
static rung_status deliver(game_play *play, rung_game_letter letter, rung_error *err)
{
    letter.bits = play->message.bits;
    RUNG_TRY(rung_buf_ok(&play->message.bytes, err));
    if (!letter.bits) return RUNG_OK;
    if (letter.bits > letter.allowed && !play->broken[0]) break_rule(play, &letter);
    RUNG_TRY(make_room(play, err));
    play->sent[play->count++] = (game_sent){.letter = letter, .offset = play->content.len};
    rung_buf_add(&play->content, play->message.bytes.text, play->message.bytes.len);
    return rung_buf_ok(&play->content, err);
}

static rung_game_message *empty(rung_game_message *message)
{
    rung_buf_reset(&message->bytes);
    message->bits = 0;
    return message;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static uint64_t saturating_product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* All views are those before the round: nobody answers what it has just heard. */
static rung_status soft_round(game_play *play, size_t epoch, rung_error *err)
{
    const rung_game *game = play->game;
    size_t before = play->count;
    for (size_t to = 0; to < game->players; to++) {
        for (size_t from = to + 1; from < game->players && !play->broken[0]; from++) {
            const rung_game_view of_from = {play, from, before}, of_to = {play, to, before};
            play->protocol->soft(empty(&play->message), game, epoch, from, to, &of_from, &of_to);
            const rung_game_letter letter = {.epoch = epoch,
                                             .from = from,
                                             .to = to,
                                             .allowed = saturating_product(game->soft_bits, game->tokens[to])};
            RUNG_TRY(deliver(play, letter, err));
        }
    }
    return RUNG_OK;
}

static rung_status linear_round(game_play *play, size_t epoch, size_t round, rung_error *err)
{
    const rung_game *game = play->game;
    for (size_t from = game->players - 1; from > 0 && !play->broken[0] && play->protocol->linear; from--) {
        const rung_game_view view = {play, from, play->count};
        play->protocol->linear(empty(&play->message), game, epoch, round, from, &view);
        const rung_game_letter letter = {
            .epoch = epoch, .round = round, .from = from, .to = from - 1, .allowed = game->linear_bits};
        RUNG_TRY(deliver(play, letter, err));
    }
    return RUNG_OK;
}

rung_status game_play_prompt(game_play *play, uint64_t *answer, rung_error *err)
{
    play->count = 0;
    rung_buf_reset(&play->content);
    for (size_t epoch = 1; epoch <= play->game->epochs; epoch++) {
        RUNG_TRY(soft_round(play, epoch, err));
        for (size_t round = 1; round <= play->game->linear_rounds[epoch - 1]; round++)
            RUNG_TRY(linear_round(play, epoch, round, err));
    }
    const rung_game_view last = {play, 0, play->count};
    *answer = play->broken[0] ? 0 : play->protocol->answer(play->game, &last);
    return RUNG_OK;
}

/* ---- once more --------------------------------------------------------------------------------------------------- */

/* Messages that had been sent before the views of letter `index` were made. */
static size_t known_before(const game_play *play, size_t index)
{
    const rung_game_letter *l = &play->sent[index].letter;
    size_t known = index;
    while (!l->round && known > 0 && play->sent[known - 1].letter.epoch == l->epoch) known--;
    return known;
}

bool game_play_repeats(const game_play *play, size_t index, const uint64_t *const other[], rung_game_message *scratch)
{
    const game_sent *sent = &play->sent[index];
    const rung_game_letter *l = &sent->letter;
    game_play mixed = *play;
    for (size_t i = 0; i < play->game->players; i++)
        if (i != l->from && (l->round || i != l->to)) mixed.input[i] = other[i];
    const rung_game_view of_from = {&mixed, l->from, known_before(play, index)};
    const rung_game_view of_to = {&mixed, l->to, of_from.known};
    if (l->round)
        play->protocol->linear(empty(scratch), play->game, l->epoch, l->round, l->from, &of_from);
    else
        play->protocol->soft(empty(scratch), play->game, l->epoch, l->from, l->to, &of_from, &of_to);
    return scratch->bits == l->bits && !scratch->bytes.failed &&
           memcmp(scratch->bytes.text, play->content.text + sent->offset, (size_t)((l->bits + 7) / 8)) == 0;
}

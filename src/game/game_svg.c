/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The picture of a game: players in the order of the prompt, a lane for every round in which something is sent, and an
 * arrow with its bits for every message.
 */
#include "rung/game.h"

enum { WIDTH = 900, LEFT = 170, RIGHT = 40, HEAD = 84, BOX = 54, LANE = 34, ROW = 30, FOOT = 40 };

static const char style[] =
    "<style>svg{font:14px system-ui,sans-serif;color-scheme:light dark}text{fill:#222}.name{font-weight:600}"
    ".title{font-size:17px;font-weight:600}.small{font-size:12px;fill:#666}.bits{font-size:13px;font-weight:600}"
    ".back{fill:#fff}.box{fill:#f3f4f6;stroke:#9aa1ab}.lane{fill:#8881}.line{stroke:#8886;stroke-dasharray:2 4}"
    ".soft{stroke:#c8374f;fill:#c8374f}.linear{stroke:#2673c9;fill:#2673c9}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.small{fill:#aaa}.back{fill:#111}.box{fill:#1d2127;stroke:#"
    "666e79}"
    ".soft{stroke:#f0788c;fill:#f0788c}.linear{stroke:#6aaef5;fill:#6aaef5}}</style>\n";

static double x_of(const rung_game *game, size_t player)
{
    double step = (double)(WIDTH - LEFT - RIGHT) / (double)game->players;
    return LEFT + step * ((double)(game->players - 1 - player) + 0.5);
}

static bool same_round(const rung_game_letter *a, const rung_game_letter *b)
{
    return a->epoch == b->epoch && a->round == b->round;
}

/* Rounds in which something is sent. */
static size_t lanes_of(const rung_game_result *r)
{
    size_t lanes = 0;
    for (size_t i = 0; i < r->letters; i++) lanes += i == 0 || !same_round(&r->letter[i - 1], &r->letter[i]);
    return lanes;
}

static void put_players(rung_buf *out, const rung_game *game, double bottom)
{
    for (size_t i = 0; i < game->players; i++) {
        char name[24], tokens[48];
        double x = x_of(game, i);
        rung_game_player_name(name, i);
        snprintf(tokens, sizeof tokens, "%zu token%s", game->tokens[i], game->tokens[i] == 1 ? "" : "s");
        rung_buf_printf(out, "<line class=\"line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n", x, x, HEAD + BOX,
                        bottom);
        rung_buf_printf(out, "<rect class=\"box\" x=\"%.1f\" y=\"%d\" width=\"90\" height=\"%d\" rx=\"8\"/>\n", x - 45,
                        HEAD, BOX - 8);
        rung_svg_text(out, x, HEAD + 20, "name", "middle", name);
        rung_svg_text(out, x, HEAD + 37, "small", "middle", tokens);
    }
}

static void put_arrow(rung_buf *out, const rung_game *game, const rung_game_letter *l, double y)
{
    char label[64];
    double a = x_of(game, l->from), b = x_of(game, l->to);
    const char *kind = l->round ? "linear" : "soft";
    rung_buf_printf(out, "<line class=\"%s\" stroke-width=\"2\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                    kind, a, b - 8, y, y);
    rung_buf_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fl-9 -5v10z\"/>\n", kind, b, y);
    snprintf(label, sizeof label, "%llu bit%s", (unsigned long long)l->bits, l->bits == 1 ? "" : "s");
    rung_svg_text(out, (a + b) / 2, y - 6, "bits", "middle", label);
}

/* The lane of the round that begins with letter `first`; returns the first letter of the next round. */
static size_t put_lane(rung_buf *out, const rung_game *game, const rung_game_result *r, size_t first, double *y)
{
    char name[64];
    size_t end = first;
    const rung_game_letter *l = &r->letter[first];
    while (end < r->letters && same_round(l, &r->letter[end])) end++;
    double high = LANE + ROW * (double)(end - first);
    rung_buf_printf(out, "<rect class=\"lane\" x=\"10\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"6\"/>\n", *y + 4,
                    WIDTH - 20, high - 8);
    snprintf(name, sizeof name, l->round ? "epoch %zu, linear" : "epoch %zu, soft", l->epoch);
    rung_svg_text(out, 24, *y + 26, "name", "start", name);
    snprintf(name, sizeof name, l->round ? "at most %llu bits" : "at most %llu bits a token",
             (unsigned long long)(l->round ? game->linear_bits : game->soft_bits));
    rung_svg_text(out, 24, *y + 44, "small", "start", name);
    for (size_t i = first; i < end; i++) put_arrow(out, game, &r->letter[i], *y + 28 + ROW * (double)(i - first));
    *y += high;
    return end;
}

static void put_title(rung_buf *out, const rung_game *game, const rung_game_protocol *protocol,
                      const rung_game_result *r)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%s in the game ", protocol->name);
    rung_game_vector(&text, game);
    if (text.text) rung_svg_text(out, 20, 30, "title", "start", text.text);
    rung_buf_reset(&text);
    rung_task_canonical(&text, &game->task);
    rung_buf_printf(&text, ": %llu of %llu prompts right%s", (unsigned long long)r->right,
                    (unsigned long long)r->prompts, r->every ? ", which are all" : "");
    if (text.text) rung_svg_text(out, 20, 54, "small", "start", text.text);
    out->failed = out->failed || text.failed;
    rung_buf_clear(&text);
}

void rung_game_svg(rung_buf *out, const rung_game *game, const rung_game_protocol *protocol,
                   const rung_game_result *result)
{
    double y = HEAD + BOX;
    double high = y + LANE * (double)lanes_of(result) + ROW * (double)result->letters + FOOT;
    rung_buf_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
                    "role=\"img\">\n",
                    WIDTH, high, WIDTH, high);
    rung_buf_puts(out, style);
    rung_buf_printf(out, "<rect class=\"back\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, high);
    put_title(out, game, protocol, result);
    put_players(out, game, high - FOOT);
    for (size_t i = 0; i < result->letters;) i = put_lane(out, game, result, i, &y);
    rung_svg_text(out, 20, high - 14, "small", "start",
                  "soft: the answer to what the receiver has shown; linear: handed along the line");
    rung_buf_puts(out, "</svg>\n");
}

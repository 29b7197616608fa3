/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung completion: a script for bash, zsh or fish, from the option tables and the registries that are
 * compiled in. Every script knows commands, options, their values, argument names, what `rung list KIND` has, and the
 * key= pairs of a task or a construction that is already on the line.
 */
#include <string.h>

#include "catalog.h"
#include "command.h"
#include "output.h"
#include "rung/build.h"
#include "rung/task.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* ---- what the three share -------------------------------------------------------------------------------------- */

/* A word that has to be quoted (the bound A') is easier to type than to complete. */
static bool is_plain(const char *word)
{
    return !strpbrk(word, "'\"\\ $`()");
}

/* "a b c" from a list of choices or a registry; nothing when there is neither. */
static void candidates(rung_buf *out, const char *const *choices, rung_names *names)
{
    for (size_t i = 0; choices && choices[i]; i++) rung_buf_printf(out, "%s%s", i ? " " : "", choices[i]);
    for (size_t i = 0; names && names(i); i++)
        if (is_plain(names(i))) rung_buf_printf(out, "%s%s", i ? " " : "", names(i));
}

static const char *const common_formats[] = {"f32", "bf16", "f16", "f64", "e4m3", "e5m2", "e8m10", "q3.12", NULL};

/* Of the value of an option. Layers begin with a mechanism, and a format is one of many. */
static void value_candidates(rung_buf *out, const rung_option *row)
{
    const size_t len = strlen(row->name);
    if (row->choices || row->names)
        candidates(out, row->choices, row->names);
    else if (strcmp(row->name, "arch") == 0)
        candidates(out, NULL, tool_mech_name_at);
    else if (strcmp(row->name, "task") == 0)
        candidates(out, NULL, rung_task_name_at);
    else if (len >= 7 && strcmp(row->name + len - 7, "numbers") == 0)
        candidates(out, common_formats, NULL);
}

static bool has_values(const rung_option *row)
{
    rung_buf text;
    rung_buf_init(&text);
    value_candidates(&text, row);
    const bool some = text.len > 0;
    rung_buf_clear(&text);
    return some;
}

static void items_of(rung_buf *out, const tool_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count(); i++)
        if (is_plain(catalog->at(i).name)) rung_buf_printf(out, "%s%s", i ? " " : "", catalog->at(i).name);
}

/* The second argument of `rung list` depends on the first. */
static bool is_list(const tool_command *command)
{
    return strcmp(command->name, "list") == 0;
}

/* Constructions have keys of their own where a command takes one. */
static bool takes_construction(const tool_command *command)
{
    return strcmp(command->name, "build") == 0 || strcmp(command->name, "precision") == 0;
}

/* All candidates of all arguments of a command. */
static void argument_candidates(rung_buf *out, const tool_command *command)
{
    for (const tool_argument *row = command->arguments; row && row->metavar; row++) {
        if (is_list(command) && row != command->arguments) break;
        if (out->len && (row->choices || row->names)) rung_buf_putc(out, ' ');
        candidates(out, row->choices, row->names);
    }
}

static bool takes_files(const tool_command *command)
{
    for (const tool_argument *row = command->arguments; row && row->metavar; row++)
        if (row->complete) return true;
    return false;
}

static void keys_of(rung_buf *out, const rung_param *params)
{
    for (const rung_param *param = params; param && param->name; param++)
        rung_buf_printf(out, "%s%s=", param == params ? "" : " ", param->name);
}

/* ---- bash ------------------------------------------------------------------------------------------------------ */

static void bash_value(rung_buf *out, const tool_command *command, const rung_option *row)
{
    if (row->kind == RUNG_OPTION_FLAG) return;
    rung_buf_printf(out, "    %s:--%s", command->name, row->name);
    if (row->letter) rung_buf_printf(out, " | %s:-%c", command->name, row->letter);
    if (row->complete) {
        rung_buf_printf(out, ") mapfile -t COMPREPLY < <(compgen -%c -- \"$cur\"); return ;;\n",
                        row->complete == RUNG_COMPLETE_DIR ? 'd' : 'f');
        return;
    }
    rung_buf_puts(out, ") mapfile -t COMPREPLY < <(compgen -W '");
    value_candidates(out, row);
    rung_buf_puts(out, "' -- \"$cur\"); return ;;\n");
}

static void bash_options(rung_buf *out, const rung_option *table)
{
    for (; table && table->name; table++) {
        rung_buf_printf(out, " --%s", table->name);
        if (table->letter) rung_buf_printf(out, " -%c", table->letter);
    }
}

static void bash_command(rung_buf *out, const tool_command *command)
{
    rung_buf names;
    rung_buf_init(&names);
    argument_candidates(&names, command);
    rung_buf_printf(out, "    %s) options='", command->name);
    bash_options(out, command->options);
    bash_options(out, tool_options_common);
    rung_buf_printf(out, "' names='%s' files=%d words=%d built=%d ;;\n", names.len ? names.text : "",
                    takes_files(command), command->pairs != NULL, takes_construction(command));
    rung_buf_clear(&names);
}

static void bash_keys(rung_buf *out, const char *before, const char *name, const rung_param *params)
{
    rung_buf_printf(out, "        %s:%s) names+=' ", before, name);
    keys_of(out, params);
    rung_buf_puts(out, "' ;;\n");
}

/* The keys of each name, where a construction may stand and elsewhere. */
static void bash_all_keys(rung_buf *out)
{
    for (size_t i = 0; i < rung_construction_count(); i++)
        bash_keys(out, "1", rung_construction_at(i)->name, rung_construction_at(i)->params);
    for (size_t i = 0; i < rung_task_count(); i++) bash_keys(out, "*", rung_task_at(i)->name, rung_task_at(i)->params);
}

static void bash_kinds(rung_buf *out)
{
    rung_buf_puts(out, "    if [[ $command == list ]] && ((COMP_CWORD == 3)); then\n        case $prev in\n");
    for (const tool_catalog *catalog = tool_catalogs; catalog->kind; catalog++) {
        rung_buf_printf(out, "        %s) names='", catalog->kind);
        items_of(out, catalog);
        rung_buf_puts(out, "' ;;\n");
    }
    rung_buf_puts(out, "        esac\n    fi\n");
}

static void write_bash(rung_buf *out)
{
    rung_buf_puts(out, "# Completion of rung for bash, made by 'rung completion bash'.\n"
                       "_rung() {\n"
                       "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                       "    local command=${COMP_WORDS[1]} options='' names='' files=0 words=0 built=0 word\n"
                       "    if ((COMP_CWORD == 1)); then\n"
                       "        mapfile -t COMPREPLY < <(compgen -W '");
    candidates(out, NULL, tool_command_name_at);
    rung_buf_puts(out, " --help --version' -- \"$cur\")\n        return\n    fi\n    case $command:$prev in\n");
    for (size_t i = 0; i < tool_command_count(); i++) {
        const tool_command *command = tool_command_at(i);
        for (const rung_option *row = command->options; row && row->name; row++) bash_value(out, command, row);
    }
    rung_buf_puts(out, "    *:--seed) return ;;\n    esac\n    case $command in\n");
    for (size_t i = 0; i < tool_command_count(); i++) bash_command(out, tool_command_at(i));
    rung_buf_puts(out, "    esac\n");
    bash_kinds(out);
    rung_buf_puts(out, "    if ((words)); then\n        for word in \"${COMP_WORDS[@]:2}\"; do\n"
                       "        case $built:$word in\n");
    bash_all_keys(out);
    rung_buf_puts(out, "        esac\n        done\n    fi\n"
                       "    if [[ $cur == -* ]]; then names=$options; fi\n"
                       "    mapfile -t COMPREPLY < <(compgen -W \"$names\" -- \"$cur\")\n"
                       "    if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi\n"
                       "    if ((files)) && ((${#COMPREPLY[@]} == 0)); then\n"
                       "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n    fi\n"
                       "}\ncomplete -F _rung rung\n");
}

/* ---- zsh ------------------------------------------------------------------------------------------------------- */

/* Inside single quotes and the brackets of _arguments. */
static void zsh_text(rung_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            rung_buf_puts(out, "'\\''");
        else if (strchr("[]:\\", *text))
            rung_buf_printf(out, "\\%c", *text);
        else
            rung_buf_putc(out, *text);
    }
}

static void zsh_value(rung_buf *out, const rung_option *row)
{
    if (row->kind == RUNG_OPTION_FLAG) return;
    rung_buf_printf(out, ":%s:", row->metavar);
    if (row->complete) {
        rung_buf_puts(out, row->complete == RUNG_COMPLETE_DIR ? "_files -/" : "_files");
    } else if (has_values(row)) {
        rung_buf_putc(out, '(');
        value_candidates(out, row);
        rung_buf_putc(out, ')');
    }
}

static void zsh_options(rung_buf *out, const rung_option *table)
{
    for (; table && table->name; table++) {
        const char *equals = table->kind == RUNG_OPTION_FLAG ? "" : "=";
        if (table->letter)
            rung_buf_printf(out, "            '(-%c --%s)'{-%c%s,--%s%s}'[", table->letter, table->name, table->letter,
                            *equals ? "+" : "", table->name, equals);
        else
            rung_buf_printf(out, "            '--%s%s[", table->name, equals);
        zsh_text(out, table->help);
        rung_buf_putc(out, ']');
        zsh_value(out, table);
        rung_buf_puts(out, "' \\\n");
    }
}

static void zsh_keys(rung_buf *out, const char *before, const char *name, const rung_param *params)
{
    rung_buf_printf(out, "        %s:%s) keys+=(", before, name);
    keys_of(out, params);
    rung_buf_puts(out, ") ;;\n");
}

/* After the name of the command has been shifted to words[1]. */
static void zsh_kinds(rung_buf *out)
{
    rung_buf_puts(out, "        (( CURRENT == 3 )) && case $words[2] in\n");
    for (const tool_catalog *catalog = tool_catalogs; catalog->kind; catalog++) {
        rung_buf_printf(out, "        %s) names=(", catalog->kind);
        items_of(out, catalog);
        rung_buf_puts(out, ") ;;\n");
    }
    rung_buf_puts(out, "        esac\n");
}

static void zsh_command(rung_buf *out, const tool_command *command)
{
    rung_buf names;
    rung_buf_init(&names);
    argument_candidates(&names, command);
    rung_buf_printf(out, "    %s)\n        names=(%s) files=%d words_too=%d built=%d\n", command->name,
                    names.len ? names.text : "", takes_files(command), command->pairs != NULL,
                    takes_construction(command));
    if (is_list(command)) zsh_kinds(out);
    rung_buf_puts(out, "        _arguments -s \\\n");
    zsh_options(out, command->options);
    zsh_options(out, tool_options_common);
    rung_buf_puts(out, "            '*: :_rung_names' ;;\n");
    rung_buf_clear(&names);
}

static void write_zsh(rung_buf *out)
{
    rung_buf_puts(out, "#compdef rung\n# Completion of rung for zsh, made by 'rung completion zsh'.\n"
                       "_rung_names() {\n"
                       "    local word\n    local -a keys\n"
                       "    compadd -a names\n"
                       "    (( files )) && _files\n"
                       "    (( words_too )) || return 0\n"
                       "    for word in $words; do\n        case $built:$word in\n");
    for (size_t i = 0; i < rung_construction_count(); i++)
        zsh_keys(out, "1", rung_construction_at(i)->name, rung_construction_at(i)->params);
    for (size_t i = 0; i < rung_task_count(); i++) zsh_keys(out, "*", rung_task_at(i)->name, rung_task_at(i)->params);
    rung_buf_puts(out, "        esac\n    done\n    compadd -S '' -a keys\n}\n"
                       "_rung() {\n    local -a names commands\n    local files=0 words_too=0 built=0\n"
                       "    if (( CURRENT == 2 )); then\n        commands=(\n");
    for (size_t i = 0; i < tool_command_count(); i++) {
        rung_buf_printf(out, "            '%s:", tool_command_at(i)->name);
        zsh_text(out, tool_command_at(i)->summary);
        rung_buf_puts(out, "'\n");
    }
    rung_buf_puts(out, "        )\n        _describe command commands\n        return\n    fi\n"
                       "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; i < tool_command_count(); i++) zsh_command(out, tool_command_at(i));
    rung_buf_puts(out, "    esac\n}\n"
                       "if [ \"$funcstack[1]\" = _rung ]; then _rung \"$@\"; else compdef _rung rung; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------------------------ */

static void fish_text(rung_buf *out, const char *text)
{
    rung_buf_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') rung_buf_putc(out, '\\');
        rung_buf_putc(out, *text);
    }
    rung_buf_putc(out, '\'');
}

static void fish_options(rung_buf *out, const char *condition, const rung_option *table)
{
    for (; table && table->name; table++) {
        rung_buf_printf(out, "complete -c rung -n '%s' -l %s", condition, table->name);
        if (table->letter) rung_buf_printf(out, " -s %c", table->letter);
        if (table->complete) {
            rung_buf_puts(out, " -r -F");
        } else if (table->kind != RUNG_OPTION_FLAG) {
            rung_buf_puts(out, " -x -a '");
            value_candidates(out, table);
            rung_buf_putc(out, '\'');
        }
        rung_buf_puts(out, " -d ");
        fish_text(out, table->help);
        rung_buf_putc(out, '\n');
    }
}

static void fish_kinds(rung_buf *out)
{
    for (const tool_catalog *catalog = tool_catalogs; catalog->kind; catalog++) {
        rung_buf_printf(out,
                        "complete -c rung -n '__fish_seen_subcommand_from list; and __fish_seen_subcommand_from %s' "
                        "-a '",
                        catalog->kind);
        items_of(out, catalog);
        rung_buf_puts(out, "'\n");
    }
}

static void fish_keys(rung_buf *out, const char *name, const rung_param *params)
{
    rung_buf_printf(out, "            case %s\n                printf '%%s\\n' ", name);
    keys_of(out, params);
    rung_buf_putc(out, '\n');
}

static void fish_command(rung_buf *out, const tool_command *command)
{
    char condition[96];
    snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %s", command->name);
    rung_buf_printf(out, "complete -c rung -n __fish_use_subcommand -a %s -d ", command->name);
    fish_text(out, command->summary);
    rung_buf_putc(out, '\n');
    rung_buf names;
    rung_buf_init(&names);
    argument_candidates(&names, command);
    if (names.len) rung_buf_printf(out, "complete -c rung -n '%s' -a '%s'\n", condition, names.text);
    if (takes_files(command)) rung_buf_printf(out, "complete -c rung -n '%s' -F\n", condition);
    if (command->pairs) rung_buf_printf(out, "complete -c rung -n '%s' -a '(__rung_task_keys)'\n", condition);
    if (takes_construction(command))
        rung_buf_printf(out, "complete -c rung -n '%s' -a '(__rung_construction_keys)'\n", condition);
    if (is_list(command)) fish_kinds(out);
    fish_options(out, condition, command->options);
    rung_buf_clear(&names);
}

static void write_fish(rung_buf *out)
{
    rung_buf_puts(out, "# Completion of rung for fish, made by 'rung completion fish'.\n"
                       "function __rung_task_keys\n    for word in (commandline -opc)\n        switch $word\n");
    for (size_t i = 0; i < rung_task_count(); i++) fish_keys(out, rung_task_at(i)->name, rung_task_at(i)->params);
    rung_buf_puts(out, "        end\n    end\nend\n"
                       "function __rung_construction_keys\n    for word in (commandline -opc)\n        switch $word\n");
    for (size_t i = 0; i < rung_construction_count(); i++)
        fish_keys(out, rung_construction_at(i)->name, rung_construction_at(i)->params);
    rung_buf_puts(out, "        end\n    end\nend\ncomplete -c rung -f\n");
    for (size_t i = 0; i < tool_command_count(); i++) fish_command(out, tool_command_at(i));
    fish_options(out, "not __fish_use_subcommand", tool_options_common);
    rung_buf_puts(out, "complete -c rung -n __fish_use_subcommand -l version -d 'the version'\n");
}

/* ---- the command ----------------------------------------------------------------------------------------------- */

static rung_status unknown_shell(const char *name, rung_error *err)
{
    const char *near = rung_guess_name(name, shells, 3);
    if (near) return rung_fail(err, RUNG_USAGE, "unknown shell '%s'; did you mean '%s'?", name, near);
    return rung_fail(err, RUNG_USAGE, "unknown shell '%s'; one of bash, zsh, fish", name);
}

static int run_completion(const tool_call *call, rung_error *err)
{
    static void (*const writers[])(rung_buf *) = {write_bash, write_zsh, write_fish};
    size_t shell = 0;
    while (shells[shell] && strcmp(shells[shell], call->argument[0]) != 0) shell++;
    if (!shells[shell]) return unknown_shell(call->argument[0], err);

    rung_buf script;
    rung_buf_init(&script);
    writers[shell](&script);
    const int status = tool_out_text(call, &script, "rung.completion/1", shells[shell], err);
    rung_buf_clear(&script);
    return status;
}

const tool_command tool_command_completion = {
    .name = "completion",
    .summary = "tab completion for bash, zsh or fish",
    .details = "make install puts the scripts where the shells look for them.",
    .examples =
        (const tool_example[]){
            {"source <(rung completion bash)", "in this bash, now"},
            {"source <(rung completion zsh)", "in this zsh, now"},
            {"rung completion fish | source", "in this fish, now"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "SHELL", .help = "bash, zsh or fish", .least = 1, .most = 1, .choices = shells},
            {0},
        },
    .helper = true,
    .run = run_completion,
};

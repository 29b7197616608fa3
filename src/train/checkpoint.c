/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Checkpoints: a safetensors file of the parameters and both moments, with the canonical text of the run and its
 * progress as metadata. Nothing in it depends on time or threads, so that an interrupted run ends with the bytes of an
 * uninterrupted one. The file is replaced by renaming: after a kill the old or the new file is there, complete.
 */
#include "checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "rung.checkpoint/3" /* version 1 had no digest, version 2 no means of auxiliary losses */

static rung_tensor tensor_of(const char *name, const float *data, size_t count)
{
    return (rung_tensor){.name = name,
                         .dtype = RUNG_F32,
                         .dtype_name = rung_dtype_name(RUNG_F32),
                         .rank = 1,
                         .shape = {count},
                         .elements = count,
                         .bytes = (const uint8_t *)data,
                         .size_bytes = count * sizeof *data};
}

/* SHA-256 of everything that affects how the run continues. */
static void digest_of(char hex[65], const char *canonical, const char *progress, const float *const data[3],
                      size_t parameters)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[32];
    rung_sha256 sha;
    rung_sha256_init(&sha);
    rung_sha256_add(&sha, FORMAT, sizeof FORMAT);
    rung_sha256_add(&sha, canonical, strlen(canonical) + 1);
    rung_sha256_add(&sha, progress, strlen(progress) + 1);
    for (size_t i = 0; i < 3; i++) rung_sha256_add(&sha, data[i], parameters * sizeof *data[i]);
    rung_sha256_final(&sha, digest);
    for (size_t i = 0; i < 32; i++) hex[2 * i] = digits[digest[i] >> 4], hex[2 * i + 1] = digits[digest[i] & 15];
    hex[64] = '\0';
}

rung_status train_checkpoint_write(const char *path, const char *canonical, const train_progress *p,
                                   const float *values, const float *m, const float *v, size_t parameters,
                                   rung_error *err)
{
    const double numbers[] = {p->loss, p->accuracy, p->eval_loss, p->eval_accuracy};
    const rung_tensor tensors[] = {tensor_of("values", values, parameters), tensor_of("m", m, parameters),
                                   tensor_of("v", v, parameters)};
    rung_buf text;
    rung_buf_init(&text);
    rung_buf_printf(&text, "%" PRIu64 " %" PRIu64 " %d", p->step, p->streak, (int)p->stopped_early);
    rung_buf_reals(&text, numbers, RUNG_COUNT(numbers));
    rung_buf_reals(&text, p->layer_mean, p->layer_means);
    rung_status status = rung_buf_ok(&text, err);
    if (status != RUNG_OK) {
        rung_buf_clear(&text);
        return status;
    }
    char digest[65];
    digest_of(digest, canonical, text.text, (const float *const[]){values, m, v}, parameters);
    const rung_meta meta[] = {{"rung.format", FORMAT},
                              {"rung.version", RUNG_VERSION},
                              {"rung.run", canonical},
                              {"rung.progress", text.text},
                              {"rung.digest", digest}};
    status = rung_safetensors_write(path, tensors, RUNG_COUNT(tensors), meta, RUNG_COUNT(meta), err);
    rung_buf_clear(&text);
    return status;
}

static bool read_progress(train_progress *p, const char *text)
{
    int stopped = 0, used = 0;
    if (!text) return false;
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %d%n", &p->step, &p->streak, &stopped, &used) != 3) return false;
    double numbers[4];
    const char *end = rung_read_reals(numbers, RUNG_COUNT(numbers), text + used);
    if (end) end = rung_read_reals(p->layer_mean, p->layer_means, end);
    if (!end || *end || (stopped != 0 && stopped != 1)) return false;
    p->loss = numbers[0], p->accuracy = numbers[1], p->eval_loss = numbers[2], p->eval_accuracy = numbers[3];
    p->stopped_early = stopped == 1;
    return true;
}

/* The message names the first words that differ. */
static rung_status refuse_other_run(const char *path, const char *theirs, const char *ours, rung_error *err)
{
    size_t at = 0;
    while (theirs[at] && theirs[at] == ours[at]) at++;
    while (at > 0 && ours[at - 1] != ' ') at--;
    return rung_fail(
        err, RUNG_USAGE,
        "%s belongs to another run: it has %.*s, this one %.*s; use another --checkpoint or remove the file", path,
        (int)strcspn(theirs + at, " "), theirs + at, (int)strcspn(ours + at, " "), ours + at);
}

static rung_status read_tensor(float *out, const rung_safetensors *file, const char *name, size_t parameters,
                               rung_error *err)
{
    const rung_tensor *tensor = rung_safetensors_get(file, name);
    if (!tensor || tensor->dtype != RUNG_F32 || tensor->elements != parameters)
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s is not F32 [%zu], so this is not a checkpoint of this run",
                         rung_safetensors_name(file), name, parameters);
    return rung_tensor_to_f32(out, tensor, err);
}

/* A checkpoint of version 1 has no digest, so a wrong bit in it would go unnoticed and change the result. */
static rung_status check_format(const char *path, const char *format, rung_error *err)
{
    static const char family[] = "rung.checkpoint/";
    if (format && strcmp(format, FORMAT) == 0) return RUNG_OK;
    if (format && strncmp(format, family, sizeof family - 1) == 0)
        return rung_fail(
            err, RUNG_INPUT,
            "%s is a checkpoint of another version (%.40s, but this rung uses %s); remove it to start again", path,
            format, FORMAT);
    return rung_fail(err, RUNG_INPUT, "%s is not a checkpoint of rung: its metadata lacks rung.format = %s", path,
                     FORMAT);
}

/* `steps` is the number of steps of the run. */
static rung_status check_progress(train_progress *progress, const rung_safetensors *file, uint64_t steps,
                                  rung_error *err)
{
    const char *path = rung_safetensors_name(file);
    if (!read_progress(progress, rung_safetensors_meta(file, "rung.progress")))
        return rung_fail(err, RUNG_INPUT, "%s: cannot parse metadata rung.progress", path);
    if (progress->step > steps || progress->streak > progress->step)
        return rung_fail(err, RUNG_INPUT,
                         "%s is at step %" PRIu64 " of a run of %" PRIu64 ": it is damaged; remove it to start again",
                         path, progress->step, steps);
    return RUNG_OK;
}

static rung_status check_digest(const rung_safetensors *file, const float *const data[3], size_t parameters,
                                rung_error *err)
{
    char digest[65];
    const char *stated = rung_safetensors_meta(file, "rung.digest");
    digest_of(digest, rung_safetensors_meta(file, "rung.run"), rung_safetensors_meta(file, "rung.progress"), data,
              parameters);
    if (stated && strcmp(stated, digest) == 0) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "%s is damaged: its contents do not have their SHA-256; remove it to start again, or replace it "
                     "by an older copy",
                     rung_safetensors_name(file));
}

static rung_status read_file(train_progress *progress, float *values, float *m, float *v, const rung_safetensors *file,
                             const char *canonical, uint64_t steps, size_t parameters, rung_error *err)
{
    const char *path = rung_safetensors_name(file), *format = rung_safetensors_meta(file, "rung.format");
    const char *run = rung_safetensors_meta(file, "rung.run");
    rung_status status = check_format(path, format, err);
    if (status == RUNG_OK && !run) status = rung_fail(err, RUNG_INPUT, "%s: metadata rung.run is missing", path);
    if (status == RUNG_OK && strcmp(run, canonical) != 0) status = refuse_other_run(path, run, canonical, err);
    RUNG_TRY(status);
    status = check_progress(progress, file, steps, err);
    RUNG_TRY(status);
    status = read_tensor(values, file, "values", parameters, err);
    RUNG_TRY(status);
    status = read_tensor(m, file, "m", parameters, err);
    RUNG_TRY(status);
    RUNG_TRY(read_tensor(v, file, "v", parameters, err));
    return check_digest(file, (const float *const[]){values, m, v}, parameters, err);
}

rung_status train_checkpoint_read(bool *found, train_progress *progress, float *values, float *m, float *v,
                                  const char *path, const char *canonical, uint64_t steps, size_t parameters,
                                  rung_error *err)
{
    rung_safetensors *file;
    *found = access(path, F_OK) == 0;
    if (!*found) return RUNG_OK;
    RUNG_TRY(rung_safetensors_open(&file, path, err));
    rung_status status = read_file(progress, values, m, v, file, canonical, steps, parameters, err);
    rung_safetensors_close(file);
    return status;
}

/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Checkpoints: a safetensors file of the parameters and both moments, with the canonical text of the run and its progress as
 * metadata. Nothing in it depends on time or threads, so that an interrupted run ends with the bytes of an uninterrupted
 * one. The file is replaced by renaming: after a kill there is the old one or the new one.
 */
#include "checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "rung.checkpoint/1"

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

rung_status train_checkpoint_write(const char *path, const char *canonical, const train_progress *p,
                                   const float *values, const float *m, const float *v, size_t parameters,
                                   rung_error *err)
{
    char text[256];
    const rung_tensor tensors[] = {tensor_of("values", values, parameters), tensor_of("m", m, parameters),
                                   tensor_of("v", v, parameters)};
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %d %a %a %a %a", p->step, p->streak, (int)p->stopped_early,
             p->loss, p->accuracy, p->eval_loss, p->eval_accuracy);
    const rung_meta meta[] = {{"rung.format", FORMAT}, {"rung.run", canonical}, {"rung.progress", text}};
    return rung_safetensors_write(path, tensors, RUNG_COUNT(tensors), meta, RUNG_COUNT(meta), err);
}

static bool read_progress(train_progress *p, const char *text)
{
    int stopped = 0, used = 0;
    if (!text) return false;
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %d %la %la %la %la%n", &p->step, &p->streak, &stopped, &p->loss,
               &p->accuracy, &p->eval_loss, &p->eval_accuracy, &used) != 7)
        return false;
    p->stopped_early = stopped == 1;
    return text[used] == 0 && (stopped == 0 || stopped == 1);
}

/* The first words that differ, for a message that helps. */
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
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s is not F32 [%zu]: no checkpoint of this run",
                         rung_safetensors_name(file), name, parameters);
    return rung_tensor_to_f32(out, tensor, err);
}

static rung_status read_file(train_progress *progress, float *values, float *m, float *v, const rung_safetensors *file,
                             const char *canonical, size_t parameters, rung_error *err)
{
    const char *path = rung_safetensors_name(file), *format = rung_safetensors_meta(file, "rung.format");
    const char *run = rung_safetensors_meta(file, "rung.run");
    if (!format || strcmp(format, FORMAT) != 0 || !run)
        return rung_fail(err, RUNG_INPUT, "%s is no checkpoint of ours: its metadata lacks rung.format = %s", path,
                         FORMAT);
    if (strcmp(run, canonical) != 0) return refuse_other_run(path, run, canonical, err);
    if (!read_progress(progress, rung_safetensors_meta(file, "rung.progress")))
        return rung_fail(err, RUNG_INPUT, "%s: metadata rung.progress cannot be read", path);
    rung_status status = read_tensor(values, file, "values", parameters, err);
    if (status == RUNG_OK) status = read_tensor(m, file, "m", parameters, err);
    return status == RUNG_OK ? read_tensor(v, file, "v", parameters, err) : status;
}

rung_status train_checkpoint_read(bool *found, train_progress *progress, float *values, float *m, float *v,
                                  const char *path, const char *canonical, size_t parameters, rung_error *err)
{
    rung_safetensors *file;
    *found = access(path, F_OK) == 0;
    if (!*found) return RUNG_OK;
    rung_status status = rung_safetensors_open(&file, path, err);
    if (status != RUNG_OK) return status;
    status = read_file(progress, values, m, v, file, canonical, parameters, err);
    rung_safetensors_close(file);
    return status;
}

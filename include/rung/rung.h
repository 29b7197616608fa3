/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung: every public header of librung at once, in layer order. For programs that use the library; the library itself
 * includes the headers it needs and never this one. rung/rung-lab.h has those of librung-lab.
 */
#ifndef RUNG_RUNG_H
#define RUNG_RUNG_H

#include "rung/base.h"

#include "rung/io.h"
#include "rung/kern.h"
#include "rung/num.h"
#include "rung/par.h"
#include "rung/render.h"

#include "rung/cert.h"
#include "rung/mech.h"
#include "rung/task.h"

#include "rung/attn.h"
#include "rung/config.h"
#include "rung/dataset.h"
#include "rung/foreign.h"
#include "rung/game.h"
#include "rung/model.h"
#include "rung/recall.h"

#include "rung/build.h"
#include "rung/protocol.h"
#include "rung/train.h"
#include "rung/verify.h"

#include "rung/claim.h"
#include "rung/witness.h"

#include "rung/attack.h"
#include "rung/bound.h"

#include "rung/audit.h"
#include "rung/decide.h"
#include "rung/drift.h"

#include "rung/card.h"

#endif

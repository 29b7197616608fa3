# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# rung: build, test, install. `make help` lists the targets, docs/build.md describes them and the variables.
# A module is a directory src/<module>; MODULES is in layer order, and a test of a module is linked with that module
# and the ones before it only, so an upward call does not link.

VERSION    := $(shell sed -n 's/^\#define RUNG_VERSION_[MP][AIT][JNT][A-Z]* *\([0-9]*\)$$/\1/p' include/rung/base.h | paste -sd. -)
ABI        := $(firstword $(subst ., ,$(VERSION)))
SONAME     := librung.so.$(ABI)
LAB_SONAME := librung-lab.so.$(ABI)
PREFIX     ?= /usr/local
DESTDIR    ?=
BUILD      ?= build
CC         ?= gcc
CXX        ?= g++
CLANG      ?= clang
CFLAGS     ?= -O2 -g1
PKG_CONFIG ?= pkg-config
PYTHON     ?= /usr/bin/python3
WITHOUT    ?=

# librung, and librung-lab on top of it.
CORE_MODULES := base par num io kern render mech task cert dataset game recall attn model config build verify protocol train foreign claim \
                witness bound attack decide audit drift card
LAB_MODULES  := bench lab report probe serve explore doctor table
MODULES      := $(CORE_MODULES) $(LAB_MODULES)

# Contraction would turn r(x + magic) - magic into something else and merge roundings; see docs/numbers.md.
NUMERICS := -ffp-contract=off -fno-fast-math -fno-math-errno
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
DEFINES  := -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -D_DARWIN_C_SOURCE
# Hidden but for what the public headers declare (RUNG_API_BEGIN in rung/base.h).
ALL_CFLAGS = -std=c17 -Iinclude -fPIC -fvisibility=hidden -pthread $(DEFINES) $(WARNINGS) $(CPPFLAGS) $(CFLAGS) $(NUMERICS) $(SANITIZE) \
             $(CORE_CFLAGS)
LIBS       = $(LAB_LIBS) $(CORE_LIBS)
ISA_OPT   ?= $(if $(SANITIZE),-O1,-O3)

# A file named *_isa.c is compiled once per instruction set, each time with another name suffix. ISAS is in config.mk.
ISA_FLAGS_ref    := -DRUNG_ISA_SUFFIX=_ref
ISA_FLAGS_avx2   := -DRUNG_ISA_SUFFIX=_avx2 -mavx2 -mfma
ISA_FLAGS_neon   := -DRUNG_ISA_SUFFIX=_neon -DRUNG_NEON
ISA_FLAGS_avx512 := -DRUNG_ISA_SUFFIX=_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512
# bf16_isa.c is also compiled for these.
BF16_ISAS = $(if $(filter avx512,$(ISAS)),avx512_bf16)
ISA_FLAGS_avx512_bf16 := $(filter-out -DRUNG%,$(ISA_FLAGS_avx512)) -DRUNG_ISA_SUFFIX=_avx512_bf16 -mavx512bf16

.PHONY: all static config deps deps-test plots mpi debug compile-commands dist test asan tsan test-arm npm-engines test-engines test-peers agreement test-slurm fuzz fuzz-smoke soak drift-soak \
        mutate-premises learn bench bench-commands bench-ranks peer proofs check-coverage layers format format-check table table-trained \
        install uninstall help clean site nightly musl test-dist packages unit unit-plain smoke-build cli proofs-random

# Goals that compile nothing in this make: they need no configuration, or install first and call make again.
OUTER := deps deps-test plots mpi debug dist test asan tsan test-arm npm-engines test-engines test-peers test-slurm fuzz fuzz-smoke soak drift-soak mutate-premises learn bench bench-ranks \
         peer proofs proofs-random check-coverage layers format format-check table table-trained uninstall help clean \
         site nightly musl test-dist packages

MAKEFLAGS += --no-print-directory

all: $(BUILD)/rung $(BUILD)/rung-check ## build the command and the libraries; installs and fetches nothing
all: $(BUILD)/librung.a $(BUILD)/librung-lab.a $(BUILD)/$(SONAME) $(BUILD)/$(LAB_SONAME)

# ---- configuration ------------------------------------------------------------------------------------------------

# Which libraries and instruction sets there are. It is looked at in every make and written when it has changed. A file in
# $(BUILD)/parts changes when one part has come or gone: what depends on it is then compiled again.
$(BUILD)/config.mk: FORCE
	@CC='$(CC)' CLANG='$(CLANG)' CFLAGS='$(CFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' WITHOUT='$(WITHOUT)' PLOTS='$(PLOTS)' \
	    scripts/configure.sh $(BUILD) $(if $(CONFIG_QUIET),quiet)
FORCE:

ifneq ($(filter-out $(OUTER),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

config: ## list the optional parts: found or absent, what is then missing, which package brings it
	@cat $(BUILD)/config.txt

SOURCES     := $(foreach m,$(MODULES),$(wildcard src/$(m)/*.c))
objects_of = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(filter-out %_isa.c,$(wildcard src/$(1)/*.c))) \
             $(foreach i,$(ISAS),$(patsubst src/%.c,$(BUILD)/obj/%.$(i).o,$(filter %_isa.c,$(wildcard src/$(1)/*.c)))) \
             $(foreach i,$(BF16_ISAS),$(patsubst src/%.c,$(BUILD)/obj/%.$(i).o,$(filter %/bf16_isa.c,$(wildcard src/$(1)/*.c))))
CORE_OBJ    := $(foreach m,$(CORE_MODULES),$(call objects_of,$(m)))
LAB_OBJ     := $(foreach m,$(LAB_MODULES),$(call objects_of,$(m)))
TOOL_OBJ    := $(patsubst tool/%.c,$(BUILD)/obj/tool/%.o,$(wildcard tool/*.c))
HEADERS     := $(wildcard include/rung/*.h)
LAB_HEADERS := include/rung/rung-lab.h $(wildcard $(LAB_MODULES:%=include/rung/%.h))
CORE_HEADERS := $(filter-out $(LAB_HEADERS),$(HEADERS))

# ---- dependencies -----------------------------------------------------------------------------------------------

# Only these targets, and those that begin with them, reach for the network.
deps: ## install the Debian packages that building needs, if any are missing, and fetch the plot library
	@scripts/deps.sh build
	@[ -e $(PLOTS)/plot.js ] || [ -e report/plot.js ] || scripts/plot-library.sh $(PLOTS)

deps-test: deps
	@scripts/deps.sh build test

plots: ## fetch the plot library of rung report again (npm)
	@rm -rf $(PLOTS)
	@scripts/plot-library.sh $(PLOTS)

# ---- build ------------------------------------------------------------------------------------------------------

# The program that rung bench starts PyTorch with, as a C string.
$(BUILD)/gen/bench_peer.inc: src/bench/bench_peer.py
	@mkdir -p $(@D)
	@sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< > $@
$(BUILD)/obj/bench/bench_peer.o: $(BUILD)/gen/bench_peer.inc
$(BUILD)/obj/bench/bench_peer.o: ALL_CFLAGS += -I$(BUILD)/gen

# The scripts that rung replay starts engines with, likewise.
$(BUILD)/gen/%.mjs.inc: src/audit/%.mjs
	@mkdir -p $(@D)
	@sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< > $@
$(BUILD)/obj/audit/engine_ask.o: $(BUILD)/gen/llama-cpp.mjs.inc $(BUILD)/gen/onnx-runtime.mjs.inc
$(BUILD)/obj/audit/engine_ask.o: ALL_CFLAGS += -I$(BUILD)/gen

# The page of rung report: files as bytes of C.
$(BUILD)/gen/page.%.inc: src/report/page.%
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
# The page of rung explore likewise.
$(BUILD)/gen/explore.%.inc: src/explore/explore.%
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
$(BUILD)/obj/explore/assets_explore.o: $(BUILD)/gen/explore.html.inc $(BUILD)/gen/explore.css.inc $(BUILD)/gen/explore.js.inc
$(BUILD)/obj/explore/assets_explore.o: ALL_CFLAGS += -I$(BUILD)/gen
# The page of rung table likewise.
$(BUILD)/gen/table.%.inc: src/table/table.%
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
$(BUILD)/obj/table/table_page.o: $(BUILD)/gen/table.css.inc $(BUILD)/gen/table.js.inc
$(BUILD)/obj/table/table_page.o: ALL_CFLAGS += -I$(BUILD)/gen
# The checker as a program that needs nothing of the machine, to be copied to another one.
$(BUILD)/rung-check-static: check/rung-check.c $(BUILD)/flags
	$(QUIET_LD)$(CC) $(CHECK_CFLAGS) -static -o $@ $< -lm
static: $(BUILD)/rung-check-static ## rung-check without shared libraries, build/rung-check-static

# rung-check as WebAssembly, for pages: compiled here, or from the archive of a release; empty if there is neither.
WASM_FLAGS := --target=wasm32-wasi -mexec-model=reactor -isystem check/web -std=c17 -O2 $(NUMERICS) -Wl,--strip-all \
    -Wl,-z,stack-size=1048576 -Wl,--stack-first -Wl,--export=web_room,--export=web_judge,--export=web_end
$(BUILD)/rung-check.wasm: check/rung-check.c check/web/rung-check-web.c check/web/setjmp.h $(BUILD)/config.mk
	$(QUIET_LD)$(CLANG) $(WASM_FLAGS) -o $@ check/web/rung-check-web.c -lm
$(BUILD)/gen/checker.wasm.inc: $(if $(WASM),$(BUILD)/rung-check.wasm,$(wildcard check/rung-check.wasm))
	@mkdir -p $(@D)
	@cat $^ /dev/null | base64 | tr -d '\n' | od -An -v -td1 | sed 's/[0-9][0-9]*/&,/g' > $@
$(BUILD)/gen/checker.js.inc: src/audit/checker.js
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
$(BUILD)/obj/audit/checker_page.o: $(BUILD)/gen/checker.wasm.inc $(BUILD)/gen/checker.js.inc
$(BUILD)/obj/audit/checker_page.o: ALL_CFLAGS += -I$(BUILD)/gen
# What rung table shows of training: the results of experiments/table.json, and a small spec.
$(BUILD)/gen/%.json.inc: experiments/%.json
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
$(BUILD)/obj/table/table_trained.o: $(BUILD)/gen/table-trained.json.inc $(BUILD)/gen/table-quick.json.inc
$(BUILD)/obj/table/table_trained.o: ALL_CFLAGS += -I$(BUILD)/gen

# What the law of recall is fitted to, and what it is compared with.
$(BUILD)/gen/recall-cells.inc: scripts/recall-cells.awk docs/experiments/recall-law.full.csv
	@mkdir -p $(@D)
	@awk -f $^ > $@
$(BUILD)/gen/recall-published.inc: scripts/recall-published.awk experiments/recall-published.csv
	@mkdir -p $(@D)
	@awk -f $^ > $@
$(BUILD)/obj/recall/recall_cells.o: $(BUILD)/gen/recall-cells.inc $(BUILD)/gen/recall-published.inc
$(BUILD)/obj/recall/recall_cells.o: ALL_CFLAGS += -I$(BUILD)/gen

# The plot library of that page: `make plots` has fetched it, or the archive of a release has it. A build without it goes on.
PLOTS ?= $(BUILD)/npm
$(BUILD)/gen/plot.%.inc: $(wildcard $(PLOTS)/plot.js report/plot.js)
	@mkdir -p $(@D)
	@for file in $(PLOTS)/plot.$* report/plot.$* /dev/null; do [ ! -e $$file ] || break; done; \
	od -An -v -td1 $$file | sed 's/[0-9][0-9]*/&,/g' > $@
$(BUILD)/obj/report/assets.o: $(BUILD)/gen/page.js.inc $(BUILD)/gen/page.css.inc $(BUILD)/gen/plot.js.inc $(BUILD)/gen/plot.css.inc
$(BUILD)/obj/report/assets.o: ALL_CFLAGS += -I$(BUILD)/gen

# What a module of an optional part is compiled with: where the part is absent, a header in its place whose functions fail.
absent = $(filter $(1),$(ABSENT))
PART_CFLAGS_attack = $(if $(call absent,flint),-DRUNG_WITHOUT_FLINT)
PART_CFLAGS_lab    = $(if $(call absent,sqlite3),-Isrc/lab/without,$(SQLITE3_CFLAGS))
PART_CFLAGS_probe  = $(if $(call absent,curl),-Isrc/probe/without,$(CURL_CFLAGS))
PART_CFLAGS_serve  = $(if $(call absent,microhttpd),-Isrc/serve/without,$(MICROHTTPD_CFLAGS))
$(BUILD)/obj/attack/relation.o: $(BUILD)/parts/flint
$(call objects_of,lab): $(BUILD)/parts/sqlite3
$(call objects_of,probe): $(BUILD)/parts/curl
$(call objects_of,serve): $(BUILD)/parts/microhttpd
$(BUILD)/parts/%: $(BUILD)/config.mk ;

compile = $(CC) $(ALL_CFLAGS) $(PART_CFLAGS_$(patsubst %/,%,$(dir $*))) -MMD -MP -c $< -o $@

$(BUILD)/obj/tool/%.o: tool/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(compile)

define isa_rule
$(BUILD)/obj/%_isa.$(1).o: src/%_isa.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(QUIET_CC)$$(CC) $$(ALL_CFLAGS) $$(ISA_OPT) $$(ISA_FLAGS_$(1)) -MMD -MP -c $$< -o $$@
endef
$(foreach i,$(ISAS) $(BF16_ISAS),$(eval $(call isa_rule,$(i))))

$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(compile)

# Everything is compiled again when the compiler or a flag has changed.
FLAGS = $(CC) $(ALL_CFLAGS) isa $(ISA_OPT)
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

compile-commands: ## write compile_commands.json, for editors and analysers
	$(file >compile_commands.json,[)
	$(foreach s,$(filter-out %_isa.c,$(SOURCES)),$(call command_of,$(s),$(PART_CFLAGS_$(word 2,$(subst /, ,$(s))))))
	$(foreach s,$(filter %_isa.c,$(SOURCES)),$(call command_of,$(s),$(ISA_OPT) $(ISA_FLAGS_$(lastword $(ISAS)))))
	$(foreach s,$(wildcard tool/*.c),$(call command_of,$(s)))
	$(foreach s,$(wildcard tests/*/*.c),$(call command_of,$(s),-Itests))
	$(file >>compile_commands.json,{"directory": "$(CURDIR)"$(comma) "file": "check/rung-check.c"$(comma) "command": "$(CC) $(CHECK_CFLAGS) -c check/rung-check.c"}])
	@echo 'compile_commands.json: $(words $(SOURCES) $(wildcard tool/*.c tests/*/*.c) check) files'
comma := ,
command_of = $(file >>compile_commands.json,{"directory": "$(CURDIR)"$(comma) "file": "$(1)"$(comma) "command": "$(CC) $(ALL_CFLAGS) -I$(BUILD)/gen $(2) -c $(1)"}$(comma))

debug: ## the command and the libraries without optimisation, in $(BUILD)/debug
	@$(MAKE) BUILD=$(BUILD)/debug PLOTS=$(PLOTS) CFLAGS='-O0 -g3' ISA_OPT=-O0 all

define module_rule
$(BUILD)/lib/librung-$(1).a: $(call objects_of,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	@ar rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call module_rule,$(m))))

$(BUILD)/librung.a: $(CORE_OBJ)
$(BUILD)/librung-lab.a: $(LAB_OBJ)
$(BUILD)/librung.a $(BUILD)/librung-lab.a: $(BUILD)/config.mk
	@rm -f $@
	$(QUIET_AR)ar rcs $@ $(filter %.o,$^)

# The list of exports is made from the headers; tests/abi.sh compares it with what the compiler says they declare. The linker of
# macOS takes names, with an underscore before each, where the others take a version script; the file has the same name.
$(BUILD)/gen/librung.map: $(CORE_HEADERS)
$(BUILD)/gen/librung-lab.map: $(LAB_HEADERS)
ifeq ($(shell uname -s),Darwin)
$(BUILD)/gen/%.map: scripts/exports.sh
	@mkdir -p $(@D)
	@scripts/exports.sh $(filter %.h,$^) | sed 's/^/_/' > $@
SHARED = -dynamiclib -install_name $(PREFIX)/lib/$(@F) -Wl,-exported_symbols_list,$(filter %.map,$^)
else
$(BUILD)/gen/%.map: scripts/exports.sh
	@mkdir -p $(@D)
	@scripts/exports.sh --map RUNG_$(ABI) $(filter %.h,$^) > $@
SHARED = -shared -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^) $(if $(SANITIZE),,-Wl,-z,defs)
endif

link_shared = $(CC) $(SHARED) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o,$^)
$(BUILD)/$(SONAME): $(CORE_OBJ) $(BUILD)/gen/librung.map $(BUILD)/config.mk
	$(QUIET_LD)$(link_shared) $(CORE_LIBS)
$(BUILD)/$(LAB_SONAME): $(LAB_OBJ) $(BUILD)/gen/librung-lab.map $(BUILD)/$(SONAME) $(BUILD)/config.mk
	$(QUIET_LD)$(link_shared) $(BUILD)/$(SONAME) $(LIBS)

ARCHIVES := $(BUILD)/librung-lab.a $(BUILD)/librung.a
$(BUILD)/rung: $(TOOL_OBJ) $(ARCHIVES) $(BUILD)/config.mk
	$(QUIET_LD)$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $(TOOL_OBJ) $(ARCHIVES) $(LIBS)

# MPI, which nothing else here is linked with: the command opens this file when mpirun has started it.
MPICC ?= mpicc
$(BUILD)/rung-mpi.so: mpi/rung-mpi.c tool/mpi_entry.h include/rung/par.h include/rung/base.h $(BUILD)/flags
	$(QUIET_LD)$(MPICC) -std=c17 -Iinclude -Itool -fPIC -shared $(DEFINES) $(WARNINGS) $(CFLAGS) $(SANITIZE) -o $@ $<

# Where there is no MPI, the cases that need it are skipped.
if_mpi = $(if $(shell command -v $(MPICC)),$(1)/rung-mpi.so)

mpi: ## also build what mpirun needs (rung-mpi.so; Open MPI is installed if it is missing)
	@scripts/deps.sh build mpi
	@$(MAKE) all
	@$(MAKE) $(BUILD)/rung-mpi.so

# The checker of certificates: one file, nothing of ours but itself.
CHECK_CFLAGS = -std=c17 $(WARNINGS) -Wconversion $(CPPFLAGS) $(CFLAGS) $(NUMERICS) $(SANITIZE)
$(BUILD)/rung-check: check/rung-check.c $(BUILD)/flags
	$(QUIET_LD)$(CC) $(CHECK_CFLAGS) $(LDFLAGS) -o $@ $< -lm

# What it computes on the way, for its tests.
$(BUILD)/check-dump: tests/check/dump.c check/rung-check.c $(BUILD)/flags
	$(QUIET_LD)$(CC) $(CHECK_CFLAGS) -Wno-unused-function -o $@ $< -lm

# ---- tests --------------------------------------------------------------------------------------------------------

# Modules up to and including $(1), highest first, as the linker wants them.
upto = $(if $(filter $(1),$(MODULES)),$(call reverse,$(call head_to,$(1),$(MODULES))),$(call reverse,$(MODULES)))
head_to = $(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),,$(call head_to,$(1),$(wordlist 2,99,$(2))))
module_of = $(patsubst %/,%,$(dir $(1)))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))

TEST_SOURCES := $(wildcard tests/*/test_*.c)
TESTS        := $(patsubst tests/%.c,$(BUILD)/test/%,$(TEST_SOURCES))
PLAIN_TESTS   = $(addprefix $(BUILD)/test/,$(shell scripts/plain-tests.sh))

# Under the sanitizers optimising a test takes longer than it saves, except where the test itself computes much.
unoptimised = $(if $(SANITIZE),$(if $(filter num kern mech,$(call module_of,$*)),,-O0))

.SECONDEXPANSION:
$(BUILD)/test/%: tests/%.c $(BUILD)/flags $$(foreach m,$$(call upto,$$(call module_of,$$*)),$(BUILD)/lib/librung-$$(m).a)
	@mkdir -p $(@D)
	$(QUIET_LD)$(CC) $(ALL_CFLAGS) $(unoptimised) -MMD -MP -MF $@.d -Itests -o $@ $< $(filter %.a,$^) $(LDFLAGS) -lcmocka $(LIBS)

unit: $(TESTS) $(BUILD)/test/proofs/emit
unit-plain: $(PLAIN_TESTS)
cli: $(BUILD)/rung $(BUILD)/rung-check

test: deps-test ## everything that must hold: unit, command line, sanitizers, layers, install, fuzz seconds
	@$(MAKE) -j2 all
	@$(MAKE) -j2 unit-plain $(BUILD)/check-dump $(call if_mpi,$(BUILD))
	@$(MAKE) -j2 $(ASAN_VARS) $(ASAN_GOALS)
	@$(MAKE) -j2 $(TSAN_VARS) $(TSAN_SHORT:%=$(BUILD)/tsan/test/%)
	@BUILD=$(BUILD) CC='$(CC)' CXX='$(CXX)' PYTHON=$(PYTHON) TSAN_SHORT='$(TSAN_SHORT)' scripts/run-tests.sh

ASAN_VARS  = BUILD=$(BUILD)/asan PLOTS=$(PLOTS) CONFIG_QUIET=1 CFLAGS='-O1 -g1 -fno-omit-frame-pointer' \
             SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'
ASAN_GOALS = unit smoke-build $(BUILD)/asan/rung $(BUILD)/asan/rung-check $(BUILD)/asan/check-dump $(call if_mpi,$(BUILD)/asan)

asan: deps-test ## every unit and command line test under AddressSanitizer and UBSan
	@$(MAKE) -j2 $(ASAN_VARS) $(ASAN_GOALS)
	@BUILD=$(BUILD) PYTHON=$(PYTHON) scripts/run-tests.sh asan

# Tests that start threads. make test runs those of TSAN_SHORT, which need few modules.
TSAN_VARS  = BUILD=$(BUILD)/tsan PLOTS=$(PLOTS) CONFIG_QUIET=1 CFLAGS='-O1 -g' SANITIZE='-fsanitize=thread'
TSAN_SHORT := par/test_par par/test_mutex
TSAN_TESTS := $(TSAN_SHORT) num/test_special mech/test_attend model/test_session train/test_data train/test_run train/test_team \
              verify/test_verify attack/test_hunt attack/test_block lab/test_store lab/test_interrupt serve/test_service

tsan: deps-test ## the threaded unit tests under ThreadSanitizer
	@$(MAKE) -j2 $(TSAN_VARS) $(TSAN_TESTS:%=$(BUILD)/tsan/test/%)
	@BUILD=$(BUILD) TSAN_TESTS='$(TSAN_TESTS)' scripts/tsan.sh

test-arm: ## build the core for aarch64 and run its unit tests under qemu-user (docs/build.md)
	@scripts/deps.sh arm
	@BUILD=$(BUILD) scripts/test-arm.sh

npm-engines: ## install the engines that run what rung exports (llama.cpp, ONNX Runtime) with npm, 1 GB, for tests only
	@scripts/engines.sh $(BUILD)/npm-engines

test-engines: npm-engines ## what rung exports, in the engines themselves
	@$(MAKE) -j2 all
	@RUNG=$(BUILD)/rung PYTHON=$(PYTHON) bats --tap tests/tool/engines.bats

test-peers: ## files, layers and servers of rung beside transformers, onnx, gguf, lm-eval, inspect (PyPI, 7 GB)
	@scripts/peers.sh $(BUILD)/peers || [ $$? = 4 ]
	@$(MAKE) -j2 all
	@RUNG=$(BUILD)/rung PYTHON=$(PYTHON) bats --tap tests/tool/peers.bats

agreement: all ## the table of docs/import.md: logits of rung beside those of transformers, llama.cpp, ONNX Runtime
	@BUILD=$(BUILD) PYTHON=$(PYTHON) scripts/agreement.sh

test-slurm: ## a sweep under a Slurm of its own on this machine, with requeues and a dead node; installs slurm-wlm
	@scripts/deps.sh build test mpi slurm
	@$(MAKE) -j2 all
	@RUNG=$(BUILD)/rung PYTHON=$(PYTHON) scripts/slurm.sh bats --tap tests/slurm/slurm.bats

check-coverage: ## which lines of the checker its tests do not reach
	@BUILD=$(BUILD) PYTHON=$(PYTHON) tests/check/coverage.sh

# Machine-checked proofs: proofs/README.md. Installs Debian's coq (about 1 GB) when it is missing.
proofs: ## compile the proofs, run coqchk, look for axioms, check the example instances
	@scripts/deps.sh proofs
	@$(MAKE) --no-print-directory -j2 $(BUILD)/rung $(BUILD)/test/proofs/emit
	@BUILD=$(BUILD) tests/proofs/test.sh full

musl: ## build the command and rung-check with musl, static, and compare what they say with the others
	@scripts/deps.sh build musl
	@$(MAKE) -j2 $(BUILD)/rung $(BUILD)/rung-check
	@BUILD=$(BUILD) scripts/musl.sh

nightly: deps-test ## what documents print and what takes long: blocks marked nightly, the example of every help, recipes
	@$(MAKE) -j2 all $(call if_mpi,$(BUILD))
	@RUNG=$(BUILD)/rung $(PYTHON) tests/printed.py nightly
	@BUILD=$(BUILD) scripts/learn.sh recipes

proofs-random: ## 200 random verdicts as files for Coq (RANDOM_SEED=1): coqc must accept them all
	@RANDOM_PROOFS=200 $(MAKE) --no-print-directory proofs

layers: ## check that every module includes only lower layers
	@scripts/layers.sh

C_FILES = $(shell git ls-files '*.c' '*.h' 2>/dev/null || find bench check examples fuzz include mpi src tests tool -name '*.[ch]')
format: ## rewrite the C sources in the house style
	@clang-format -i $(C_FILES)

format-check:
	@clang-format --dry-run -Werror $(C_FILES)

# ---- fuzzing and soaks ----------------------------------------------------------------------------------------------

FUZZERS := $(patsubst fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60

# Built once for all fuzzers: a make of its own per fuzzer would race with the others for the same objects.
# report reads nothing that strangers send; doctor and table stand on it.
FUZZ_LAB_MODULES := $(filter-out report doctor table,$(LAB_MODULES))
$(BUILD)/clang/librung.a: $(foreach m,$(CORE_MODULES) $(FUZZ_LAB_MODULES),$(wildcard src/$(m)/*.[ch])) $(HEADERS) $(BUILD)/config.mk
	@$(MAKE) BUILD=$(BUILD)/clang LAB_MODULES='$(FUZZ_LAB_MODULES)' CC=$(CLANG) CFLAGS='-O1 -g' CONFIG_QUIET=1 \
	    SANITIZE='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all' $@ $(BUILD)/clang/librung-lab.a

$(BUILD)/fuzz/fuzz_check: check/rung-check.c
$(BUILD)/fuzz/%: fuzz/%.c $(wildcard fuzz/*.h) $(BUILD)/clang/librung.a
	@mkdir -p $(@D)
	$(QUIET_LD)$(CLANG) -std=c17 -Iinclude $(DEFINES) -g -O1 $(CORE_CFLAGS) \
	    -fsanitize=address,undefined,fuzzer -fno-sanitize-recover=all -o $@ $< $(BUILD)/clang/librung-lab.a $(BUILD)/clang/librung.a $(LIBS)

.PHONY: fuzz-build
fuzz-build: $(FUZZERS)

fuzz: deps-test ## a minute of libFuzzer on each reader of foreign files (FUZZ_SECONDS=60)
	@$(MAKE) -j2 fuzz-build
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh

# The same targets with a main of ours instead of libFuzzer, and the objects of the sanitized tests: the seconds in make test.
SMOKES := $(patsubst fuzz/%.c,$(BUILD)/smoke/%,$(wildcard fuzz/fuzz_*.c))
$(BUILD)/smoke/fuzz_check: check/rung-check.c
$(BUILD)/smoke/%: fuzz/%.c fuzz/smoke.c $(wildcard fuzz/*.h) $(BUILD)/librung-lab.a $(BUILD)/librung.a
	@mkdir -p $(@D)
	$(QUIET_LD)$(CC) $(ALL_CFLAGS) -o $@ $< fuzz/smoke.c $(BUILD)/librung-lab.a $(BUILD)/librung.a $(LDFLAGS) $(LIBS)
smoke-build: $(SMOKES)

fuzz-smoke: deps-test ## four seconds of mutations for each reader, without libFuzzer; make test takes two
	@$(MAKE) -j2 $(ASAN_VARS) smoke-build
	@BUILD=$(BUILD) SMOKE=1 FUZZ_SECONDS=4 scripts/fuzz.sh

SOAKS := $(patsubst tests/%.c,$(BUILD)/test/%,$(wildcard tests/*/soak_*.c))

.PHONY: soaks
soaks: $(SOAKS)

drift-soak: ## minutes: ten million adversarial trials of the bounds of docs/drift.md (RUNG_TRIALS=n: n)
	@$(MAKE) $(BUILD)/test/drift/soak_bounds
	@$(BUILD)/test/drift/soak_bounds

soak: ## hours: arithmetic against MPFR, theorems against a SAT solver and on random models, rung-check against rung
	@scripts/deps.sh build test soak
	@$(MAKE) -j2 all
	@$(MAKE) -j2 unit soaks $(BUILD)/check-dump
	@$(MAKE) -j2 $(TSAN_VARS) $(TSAN_TESTS:%=$(BUILD)/tsan/test/%)
	@BUILD=$(BUILD) TSAN_TESTS='$(TSAN_TESTS)' scripts/soak.sh

mutate-premises: deps-test ## takes the premises of theorems and claims away one by one: some test must notice each
	@scripts/mutate-premises.sh

learn: deps ## success rates of training over seeds (scripts/learn.sh says which groups there are)
	@$(MAKE) all
	@BUILD=$(BUILD) scripts/learn.sh

# Every subject is run, also after one that has missed a bar. Those with a peer meet each PyTorch that is there.
BENCHES := exact break step mixers length memory
PEER    := $(BUILD)/peer
bench: deps ## speed of the arithmetic, the mechanisms, the attacks and of training, beside PyTorch
	@scripts/deps.sh bench
	@$(MAKE) all
	@$(MAKE) $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
	@for b in $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c)); do $$b || exit 1; done
	@missed=0; for b in $(BENCHES); do echo "rung bench $$b"; $(BUILD)/rung bench $$b || missed=1; done; \
	for b in step mixers; do \
	    if [ -x $(PEER)/bin/python ]; then \
	        echo "rung bench $$b --peer $(PEER)"; $(BUILD)/rung bench $$b --peer $(PEER) || missed=1; \
	    else echo "SKIPPED: rung bench $$b beside the newest PyTorch; make peer installs it"; fi; done; \
	if [ -e $(BUILD)/rung-mpi.so ]; then RUNG=$(BUILD)/rung scripts/bench-ranks.py || missed=1; \
	else echo "SKIPPED: one model on two ranks; make mpi builds what mpirun needs"; fi; \
	RUNG=$(BUILD)/rung scripts/bench-commands.sh || missed=1; exit $$missed

peer: ## the newest PyTorch in a virtual environment, build/peer, to be measured beside (5 GB, from the network)
	@CC="$(CC)" scripts/peer.sh $(PEER)

bench-ranks: mpi ## training by two ranks of mpirun beside one process, one thread each
	@RUNG=$(BUILD)/rung scripts/bench-ranks.py

bench-commands: $(BUILD)/rung ## verdicts within a second, a store of 100,000 runs within ten: commands that people wait for
	@RUNG=$(BUILD)/rung scripts/bench-commands.sh

$(BUILD)/bench/%: bench/%.c $(ARCHIVES) $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_LD)$(CC) $(ALL_CFLAGS) -o $@ $< $(ARCHIVES) $(LIBS)

# ---- the main job -----------------------------------------------------------------------------------------------------

table: deps ## the table of results, every cell run here; also rung-table/index.html
	@$(MAKE) all
	@$(BUILD)/rung table

# What is finished stays in the store, so that it can be interrupted.
table-trained: deps ## run experiments/table.json again, break what did not learn, and write what rung table shows of it
	@$(MAKE) all
	@$(BUILD)/rung sweep experiments/table.json -o $(BUILD)/table.db $(SWEEP)
	@BUILD=$(BUILD) scripts/table-certificates.sh $(BUILD)/table.db
	@sqlite3 $(BUILD)/table.db "SELECT 'trained for ' || round(sum(seconds) / 60) || ' minutes of one thread, ' || count(*) || ' runs' FROM results"
	@$(BUILD)/rung report $(BUILD)/table.db -o $(BUILD)/table.html --json > $(BUILD)/table-trained.json
	@cp $(BUILD)/table-trained.json experiments/table-trained.json

# ---- documentation --------------------------------------------------------------------------------------------------

site: ## the documentation as pages with a search, in build/site; they need no network
	@scripts/deps.sh build site
	@$(MAKE) $(BUILD)/rung
	@$(PYTHON) scripts/site.py $(BUILD)/rung $(BUILD)/site

# ---- install ------------------------------------------------------------------------------------------------------------

BASHCOMP := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHCOMP  := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHCOMP := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
MANDIR   := $(DESTDIR)$(PREFIX)/share/man/man1

LIBDIR   := $(DESTDIR)$(PREFIX)/lib
DOCDIR   := $(DESTDIR)$(PREFIX)/share/doc/rung

# Where the python of PREFIX looks for packages; PYTHONDIR= leaves the package out.
PYTHONDIR = $(PREFIX)/lib/$(shell $(PYTHON) -c 'import sys; print("python%d.%d/%s-packages" % (*sys.version_info[:2], \
    "dist" if any(p.endswith("dist-packages") for p in sys.path) else "site"))' 2>/dev/null)
# What people read: the pages with the files that they link to by name, and the examples.
DOC_PAGES = README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md LICENSE CITATION.cff

install: all ## PREFIX=/usr/local DESTDIR=: command, libraries, headers, Python, man pages, completions, docs, examples, proofs
	install -d $(DESTDIR)$(PREFIX)/bin $(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/rung \
	    $(MANDIR) $(BASHCOMP) $(ZSHCOMP) $(FISHCOMP) $(DESTDIR)$(PREFIX)/share/rung/proofs
	install -m 755 $(BUILD)/rung $(BUILD)/rung-check $(DESTDIR)$(PREFIX)/bin
	if [ -e $(BUILD)/rung-mpi.so ]; then install -d $(LIBDIR)/rung && \
	    install -m 755 $(BUILD)/rung-mpi.so $(LIBDIR)/rung/rung-mpi.so; fi
	for lib in librung librung-lab; do \
	    install -m 644 $(BUILD)/$$lib.a $(LIBDIR)/$$lib.a && \
	    install -m 755 $(BUILD)/$$lib.so.$(ABI) $(LIBDIR)/$$lib.so.$(VERSION) && \
	    ln -sf $$lib.so.$(VERSION) $(LIBDIR)/$$lib.so.$(ABI) && \
	    ln -sf $$lib.so.$(ABI) $(LIBDIR)/$$lib.so || exit 1; done
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/rung/
	install -m 644 proofs/*.v proofs/Makefile $(DESTDIR)$(PREFIX)/share/rung/proofs/
	for pc in rung rung-lab; do sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@PARTS@|$(PARTS)|' \
	    -e 's|@CORE_REQUIRES@|$(CORE_REQUIRES)|' -e 's|@CORE_PRIVATE@|$(CORE_PRIVATE)|' \
	    -e 's|@LAB_PRIVATE@|$(LAB_LIBS)|' scripts/$$pc.pc.in > $(LIBDIR)/pkgconfig/$$pc.pc || exit 1; done
	dir='$(PYTHONDIR)'; [ -z "$$dir" ] || [ "$$dir" = "$(PREFIX)/lib/" ] || { install -d "$(DESTDIR)$$dir/rung" && \
	    install -m 644 python/rung/*.py python/rung/py.typed "$(DESTDIR)$$dir/rung/"; }
	install -d $(DOCDIR)/examples && install -m 644 $(DOC_PAGES) $(DOCDIR)/
	find docs -type f | while read -r file; do install -d "$(DOCDIR)/$$(dirname "$$file")" && \
	    install -m 644 "$$file" "$(DOCDIR)/$$file" || exit 1; done
	[ ! -e $(BUILD)/site/index.html ] || { rm -rf $(DOCDIR)/html && cp -R $(BUILD)/site $(DOCDIR)/html; }
	install -m 755 examples/*.sh $(DOCDIR)/examples/ && \
	    install -m 644 $(filter-out %.sh,$(wildcard examples/*.*)) $(DOCDIR)/examples/
	$(BUILD)/rung man > $(MANDIR)/rung.1
	install -m 644 check/rung-check.1 $(MANDIR)/rung-check.1
	$(BUILD)/rung completion bash > $(BASHCOMP)/rung
	$(BUILD)/rung completion zsh > $(ZSHCOMP)/_rung
	$(BUILD)/rung completion fish > $(FISHCOMP)/rung.fish

uninstall: ## remove what install wrote
	rm -f $(DESTDIR)$(PREFIX)/bin/rung $(DESTDIR)$(PREFIX)/bin/rung-check $(MANDIR)/rung-check.1 $(MANDIR)/rung.1 \
	    $(foreach lib,librung librung-lab,$(addprefix $(LIBDIR)/$(lib).,a so.$(VERSION) so.$(ABI) so)) \
	    $(addprefix $(DESTDIR)$(PREFIX)/include/rung/,$(notdir $(wildcard include/rung/*.h))) \
	    $(LIBDIR)/pkgconfig/rung.pc $(LIBDIR)/pkgconfig/rung-lab.pc \
	    $(BASHCOMP)/rung $(ZSHCOMP)/_rung $(FISHCOMP)/rung.fish $(LIBDIR)/rung/rung-mpi.so
	rm -rf $(DESTDIR)$(PREFIX)/share/rung/proofs $(DOCDIR)
	dir='$(PYTHONDIR)'; [ -z "$$dir" ] || [ "$$dir" = "$(PREFIX)/lib/" ] || rm -rf "$(DESTDIR)$$dir/rung"
	-rmdir $(DESTDIR)$(PREFIX)/share/rung
	-rmdir $(DESTDIR)$(PREFIX)/include/rung
	-[ ! -d $(LIBDIR)/rung ] || rmdir $(LIBDIR)/rung

# ---- release ------------------------------------------------------------------------------------------------------------

# The commit, and the plot library if it has been fetched: what comes out builds without git and without npm.
dist: ## rung-VERSION.tar.gz of the last commit, in $(BUILD)
	@PLOTS=$(PLOTS) scripts/dist.sh $(BUILD) $(VERSION)

test-dist: dist ## the archive builds, works, installs and uninstalls without git, npm and network
	@BUILD=$(BUILD) scripts/test-dist.sh $(BUILD)/rung-$(VERSION).tar.gz

packages: dist ## Debian packages of the archive, in $(BUILD)/packages, checked by lintian
	@scripts/deps.sh packages
	@BUILD=$(BUILD) scripts/packages.sh $(BUILD)/rung-$(VERSION).tar.gz

clean: ## remove the build directory
	rm -rf $(BUILD)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-16s %s\n", $$1, $$2}'

# Short lines unless V=1.
ifneq ($(V),1)
QUIET_CC = @echo '  cc  ' $(notdir $@);
QUIET_LD = @echo '  ld  ' $(notdir $@);
QUIET_AR = @echo '  ar  ' $(notdir $@);
endif

-include $(shell find $(BUILD)/obj $(BUILD)/test -name '*.d' 2>/dev/null)

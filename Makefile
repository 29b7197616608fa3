# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# rung: build, test, install. `make help` lists the targets.
# A module is a directory src/<module>; MODULES is in layer order, and a test of a module is linked with that module
# and the ones before it only, so an upward call does not link.

VERSION  := 0.1.0
SONAME   := librung.so.0
PREFIX   ?= /usr/local
DESTDIR  ?=
BUILD    ?= build
CC       ?= gcc
CLANG    ?= clang
CFLAGS   ?= -O2 -g
PYTHON   ?= /usr/bin/python3

MODULES  := base num io kern par mech task cert model config build verify protocol train claim witness bound attack decide lab report probe serve
PACKAGES := jansson mpfr gmp zlib sqlite3 libcurl libmicrohttpd

# Contraction would turn r(x + magic) - magic into something else and merge roundings; see docs/numbers.md.
NUMERICS := -ffp-contract=off -fno-fast-math -fno-math-errno
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
DEFINES  := -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS   = $(shell pkg-config --libs $(PACKAGES))
ALL_CFLAGS = -std=c17 -Iinclude -fPIC -pthread $(DEFINES) $(WARNINGS) $(CFLAGS) $(NUMERICS) $(SANITIZE) $(PKG_CFLAGS)
LIBS       = $(PKG_LIBS) -lflint -lm -pthread # FLINT has no .pc file

# A file named *_isa.c is compiled once per instruction set, each time with another name suffix.
ISAS := ref
ifeq ($(shell uname -m),x86_64)
ISAS += avx2 avx512
endif
ISA_FLAGS_ref    := -DRUNG_ISA_SUFFIX=_ref
ISA_FLAGS_avx2   := -DRUNG_ISA_SUFFIX=_avx2 -mavx2 -mfma
ISA_FLAGS_avx512 := -DRUNG_ISA_SUFFIX=_avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512

SOURCES     := $(foreach m,$(MODULES),$(wildcard src/$(m)/*.c))
ISA_SOURCES := $(filter %_isa.c,$(SOURCES))
objects_of = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(filter-out %_isa.c,$(wildcard src/$(1)/*.c))) \
             $(foreach i,$(ISAS),$(patsubst src/%.c,$(BUILD)/obj/%.$(i).o,$(filter %_isa.c,$(wildcard src/$(1)/*.c))))
OBJECTS     := $(foreach m,$(MODULES),$(call objects_of,$(m)))
TOOL_OBJ    := $(patsubst tool/%.c,$(BUILD)/obj/tool/%.o,$(wildcard tool/*.c))
HEADERS     := $(wildcard include/rung/*.h)

.PHONY: all mpi test table table-trained install uninstall asan fuzz soak mutate-premises learn bench bench-commands format format-check layers help clean \
        deps deps-test unit cli python fuzz-smoke install-test check-coverage plots proofs proofs-random

# A make of its own, because pkg-config may only just have been installed. Never beside another goal in one -j call: both
# would write the same objects.
all: deps ## build the command and the library
	@$(MAKE) --no-print-directory $(BUILD)/rung $(BUILD)/rung-check $(BUILD)/librung.a $(BUILD)/$(SONAME)

# ---- dependencies -----------------------------------------------------------------------------------------------

deps: ## install the Debian packages that building needs, if any are missing
	@scripts/deps.sh build

deps-test:
	@scripts/deps.sh build test

# ---- build ------------------------------------------------------------------------------------------------------

# The program that rung bench starts PyTorch with, as a C string.
$(BUILD)/gen/bench_peer.inc: tool/bench_peer.py
	@mkdir -p $(@D)
	@sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< > $@
$(BUILD)/obj/tool/bench_peer.o: $(BUILD)/gen/bench_peer.inc
$(BUILD)/obj/tool/bench_peer.o: ALL_CFLAGS += -I$(BUILD)/gen

# The page of rung report: files as bytes of C. The plot library is fetched once per build directory; a build without npm or
# without network goes on without it.
$(BUILD)/gen/page.%.inc: src/report/page.%
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9]\+/&,/g' > $@
# What rung table shows of training: the results of experiments/table.json, and a small spec.
$(BUILD)/gen/%.json.inc: experiments/%.json
	@mkdir -p $(@D)
	@od -An -v -td1 $< | sed 's/[0-9]\+/&,/g' > $@
$(BUILD)/obj/tool/table_trained.o: $(BUILD)/gen/table-trained.json.inc $(BUILD)/gen/table-quick.json.inc
$(BUILD)/obj/tool/table_trained.o: ALL_CFLAGS += -I$(BUILD)/gen

$(BUILD)/npm/plot.js: report/package-lock.json scripts/plot-library.sh
	@scripts/plot-library.sh $(BUILD)/npm
$(BUILD)/gen/plot.%.inc: $(BUILD)/npm/plot.js
	@mkdir -p $(@D)
	@od -An -v -td1 $(BUILD)/npm/plot.$* | sed 's/[0-9]\+/&,/g' > $@
$(BUILD)/obj/report/assets.o: $(BUILD)/gen/page.js.inc $(BUILD)/gen/page.css.inc $(BUILD)/gen/plot.js.inc $(BUILD)/gen/plot.css.inc
$(BUILD)/obj/report/assets.o: ALL_CFLAGS += -I$(BUILD)/gen

plots: ## fetch the plot library of rung report again (npm)
	@rm -rf $(BUILD)/npm
	@$(MAKE) --no-print-directory all

$(BUILD)/obj/tool/%.o: tool/%.c | $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

define isa_rule
$(BUILD)/obj/%_isa.$(1).o: src/%_isa.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(QUIET_CC)$$(CC) $$(ALL_CFLAGS) $$(if $$(SANITIZE),-O1,-O3) $$(ISA_FLAGS_$(1)) -MMD -MP -c $$< -o $$@
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))

$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(QUIET_CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Rebuilds everything when compiler or flags change.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CFLAGS) $(SANITIZE) $(NUMERICS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS) $(SANITIZE) $(NUMERICS)' > $@
FORCE:

define module_rule
$(BUILD)/lib/librung-$(1).a: $(call objects_of,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	@ar rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call module_rule,$(m))))

$(BUILD)/librung.a: $(OBJECTS)
	@rm -f $@
	$(QUIET_AR)ar rcs $@ $^

$(BUILD)/$(SONAME): $(OBJECTS) scripts/librung.map
	$(QUIET_LD)$(CC) -shared $(SANITIZE) -Wl,-soname,$(SONAME) -Wl,--version-script=scripts/librung.map -o $@ $(OBJECTS) $(LIBS)

$(BUILD)/rung: $(TOOL_OBJ) $(BUILD)/librung.a
	$(QUIET_LD)$(CC) $(SANITIZE) -o $@ $(TOOL_OBJ) $(BUILD)/librung.a $(LIBS)

# MPI, which nothing else here is linked with: the command opens this file when mpirun has started it.
MPICC ?= mpicc
$(BUILD)/rung-mpi.so: mpi/rung-mpi.c tool/mpi_entry.h include/rung/par.h include/rung/base.h $(BUILD)/flags
	$(QUIET_LD)$(MPICC) -std=c17 -Iinclude -Itool -fPIC -shared $(DEFINES) $(WARNINGS) $(CFLAGS) $(SANITIZE) -o $@ $<

# Where there is no MPI, the cases that need it are skipped.
if_mpi = $(if $(shell command -v $(MPICC)),$(1)/rung-mpi.so)

mpi: ## also build what mpirun needs (rung-mpi.so; Open MPI is installed if it is missing)
	@scripts/deps.sh build mpi
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory $(BUILD)/rung-mpi.so

# The checker of certificates: one file, nothing of ours but itself.
CHECK_CFLAGS = -std=c17 $(WARNINGS) -Wconversion $(CFLAGS) $(NUMERICS) $(SANITIZE)
$(BUILD)/rung-check: check/rung-check.c $(BUILD)/flags
	$(QUIET_LD)$(CC) $(CHECK_CFLAGS) -o $@ $< -lm

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

.SECONDEXPANSION:
$(BUILD)/test/%: tests/%.c $(BUILD)/flags $$(foreach m,$$(call upto,$$(call module_of,$$*)),$(BUILD)/lib/librung-$$(m).a)
	@mkdir -p $(@D)
	$(QUIET_LD)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -Itests -o $@ $< $(filter %.a,$^) -lcmocka $(LIBS)

unit: $(TESTS) $(BUILD)/test/proofs/emit
cli: $(BUILD)/rung $(BUILD)/rung-check

test: deps-test ## everything that must hold: unit, command line, sanitizers, layers, install, fuzz seconds
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory -j2 unit $(BUILD)/check-dump $(call if_mpi,$(BUILD))
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/asan $(ASAN_VARS) unit $(BUILD)/asan/rung \
	    $(BUILD)/asan/rung-check $(BUILD)/asan/check-dump $(call if_mpi,$(BUILD)/asan)
	@$(MAKE) --no-print-directory -j2 fuzz-build
	@BUILD=$(BUILD) PYTHON=$(PYTHON) scripts/run-tests.sh

ASAN_VARS := CFLAGS='-O1 -g -fno-omit-frame-pointer' SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'

asan: deps-test ## unit and command line tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory -j2 BUILD=$(BUILD)/asan $(ASAN_VARS) unit $(BUILD)/asan/rung \
	    $(BUILD)/asan/rung-check $(BUILD)/asan/check-dump $(call if_mpi,$(BUILD)/asan)
	@BUILD=$(BUILD) PYTHON=$(PYTHON) scripts/run-tests.sh asan

check-coverage: ## which lines of the checker its tests do not reach
	@BUILD=$(BUILD) PYTHON=$(PYTHON) tests/check/coverage.sh

# Machine-checked proofs: proofs/README.md. Installs Debian's coq (about 1 GB) when it is missing.
proofs: ## compile the proofs, run coqchk, look for axioms, check the example instances
	@scripts/deps.sh proofs
	@$(MAKE) --no-print-directory -j2 $(BUILD)/rung $(BUILD)/test/proofs/emit
	@BUILD=$(BUILD) tests/proofs/test.sh

proofs-random: ## 200 random verdicts as files for Coq (RANDOM_SEED=1): coqc must accept them all
	@RANDOM_PROOFS=200 $(MAKE) --no-print-directory proofs

layers: ## check that every module includes only lower layers
	@scripts/layers.sh

format: ## rewrite the C sources in the house style
	@clang-format -i $(shell git ls-files '*.c' '*.h')

format-check:
	@clang-format --dry-run -Werror $(shell git ls-files '*.c' '*.h')

# ---- fuzzing and soaks ----------------------------------------------------------------------------------------------

FUZZERS := $(patsubst fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60

# Built once for all fuzzers: a make of its own per fuzzer would race with the others for the same objects.
# report reads nothing that strangers send, and its page needs npm.
FUZZ_MODULES := $(filter-out report,$(MODULES))
$(BUILD)/clang/librung.a: $(foreach m,$(FUZZ_MODULES),$(wildcard src/$(m)/*.[ch])) $(HEADERS)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/clang MODULES='$(FUZZ_MODULES)' CC=$(CLANG) CFLAGS='-O1 -g' \
	    SANITIZE='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all' $@

$(BUILD)/fuzz/fuzz_check: check/rung-check.c
$(BUILD)/fuzz/%: fuzz/%.c $(wildcard fuzz/*.h) $(BUILD)/clang/librung.a
	@mkdir -p $(@D)
	$(QUIET_LD)$(CLANG) -std=c17 -Iinclude $(DEFINES) -g -O1 $(PKG_CFLAGS) \
	    -fsanitize=address,undefined,fuzzer -fno-sanitize-recover=all -o $@ $< $(BUILD)/clang/librung.a $(LIBS)

.PHONY: fuzz-build
fuzz-build: $(FUZZERS)

fuzz: deps-test ## a minute of libFuzzer on each reader of foreign files (FUZZ_SECONDS=60)
	@$(MAKE) --no-print-directory -j2 fuzz-build
	@BUILD=$(BUILD) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh

fuzz-smoke: deps-test ## the same for four seconds each, as in make test
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=4

SOAKS := $(patsubst tests/%.c,$(BUILD)/test/%,$(wildcard tests/*/soak_*.c))

.PHONY: soaks
soaks: $(SOAKS)

soak: ## hours: arithmetic against MPFR, theorems against a SAT solver and on random models, rung-check against rung
	@scripts/deps.sh build test soak
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory -j2 unit soaks $(BUILD)/check-dump
	@BUILD=$(BUILD) scripts/soak.sh

mutate-premises: deps-test ## takes the premises of theorems and claims away one by one: some test must notice each
	@scripts/mutate-premises.sh

learn: all ## success rates of training over seeds (scripts/learn.sh says which groups there are)
	@BUILD=$(BUILD) scripts/learn.sh

# Every subject is run, also after one that has missed a bar.
BENCHES := exact break step mixers length memory
bench: all ## speed of the arithmetic, the mechanisms, the attacks and of training, beside PyTorch
	@scripts/deps.sh bench
	@$(MAKE) --no-print-directory $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c))
	@for b in $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*.c)); do $$b || exit 1; done
	@missed=0; for b in $(BENCHES); do echo "rung bench $$b"; $(BUILD)/rung bench $$b || missed=1; done; \
	RUNG=$(BUILD)/rung scripts/bench-commands.sh || missed=1; exit $$missed

bench-commands: $(BUILD)/rung ## verdicts within a second, a store of 100,000 runs within ten: commands that people wait for
	@RUNG=$(BUILD)/rung scripts/bench-commands.sh

$(BUILD)/bench/%: bench/%.c $(BUILD)/librung.a
	@mkdir -p $(@D)
	$(QUIET_LD)$(CC) $(ALL_CFLAGS) -o $@ $< $(BUILD)/librung.a $(LIBS)

# ---- the main job -----------------------------------------------------------------------------------------------------

table: all ## the table of results, every cell run here; also rung-table/index.html
	@$(BUILD)/rung table

# Half an hour of one core. What is finished stays in the store, so that it can be interrupted.
table-trained: all ## run experiments/table.json again, and write what rung table shows of it
	@$(BUILD)/rung sweep experiments/table.json -o $(BUILD)/table.db $(SWEEP)
	@$(BUILD)/rung report $(BUILD)/table.db -o $(BUILD)/table.html --json > $(BUILD)/table-trained.json
	@cp $(BUILD)/table-trained.json experiments/table-trained.json

# ---- install ------------------------------------------------------------------------------------------------------------

BASHCOMP := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHCOMP  := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHCOMP := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
MANDIR   := $(DESTDIR)$(PREFIX)/share/man/man1

install: all ## PREFIX=/usr/local DESTDIR=: command, library, headers, rung.pc, man page, completions, sources of the proofs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/rung \
	    $(MANDIR) $(BASHCOMP) $(ZSHCOMP) $(FISHCOMP) $(DESTDIR)$(PREFIX)/share/rung/proofs
	install -m 755 $(BUILD)/rung $(BUILD)/rung-check $(DESTDIR)$(PREFIX)/bin
	if [ -e $(BUILD)/rung-mpi.so ]; then install -d $(DESTDIR)$(PREFIX)/lib/rung && \
	    install -m 755 $(BUILD)/rung-mpi.so $(DESTDIR)$(PREFIX)/lib/rung/rung-mpi.so; fi
	install -m 644 $(BUILD)/librung.a $(DESTDIR)$(PREFIX)/lib/librung.a
	install -m 755 $(BUILD)/$(SONAME) $(DESTDIR)$(PREFIX)/lib/librung.so.$(VERSION)
	ln -sf librung.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/librung.so
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/rung/
	install -m 644 proofs/*.v proofs/Makefile $(DESTDIR)$(PREFIX)/share/rung/proofs/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scripts/rung.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/rung.pc
	$(BUILD)/rung man > $(MANDIR)/rung.1
	install -m 644 check/rung-check.1 $(MANDIR)/rung-check.1
	$(BUILD)/rung completion bash > $(BASHCOMP)/rung
	$(BUILD)/rung completion zsh > $(ZSHCOMP)/_rung
	$(BUILD)/rung completion fish > $(FISHCOMP)/rung.fish

uninstall: ## remove what install wrote
	rm -f $(DESTDIR)$(PREFIX)/bin/rung $(DESTDIR)$(PREFIX)/bin/rung-check $(MANDIR)/rung-check.1 $(DESTDIR)$(PREFIX)/lib/librung.a \
	    $(DESTDIR)$(PREFIX)/lib/librung.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/$(SONAME) $(DESTDIR)$(PREFIX)/lib/librung.so \
	    $(addprefix $(DESTDIR)$(PREFIX)/include/rung/,$(notdir $(HEADERS))) $(DESTDIR)$(PREFIX)/lib/pkgconfig/rung.pc \
	    $(MANDIR)/rung.1 $(BASHCOMP)/rung $(ZSHCOMP)/_rung $(FISHCOMP)/rung.fish
	rm -f $(DESTDIR)$(PREFIX)/lib/rung/rung-mpi.so
	rm -rf $(DESTDIR)$(PREFIX)/share/rung/proofs
	-rmdir $(DESTDIR)$(PREFIX)/share/rung
	-rmdir $(DESTDIR)$(PREFIX)/include/rung
	-[ ! -d $(DESTDIR)$(PREFIX)/lib/rung ] || rmdir $(DESTDIR)$(PREFIX)/lib/rung

clean: ## remove the build directory
	rm -rf $(BUILD)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

# Short lines unless V=1.
ifneq ($(V),1)
QUIET_CC = @echo '  cc  ' $(notdir $@);
QUIET_LD = @echo '  ld  ' $(notdir $@);
QUIET_AR = @echo '  ar  ' $(notdir $@);
endif

-include $(shell find $(BUILD)/obj $(BUILD)/test -name '*.d' 2>/dev/null)

(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * What an instance imports: the model and every theorem with its checker *)
From Coq Require Export NArith List.
From Rung Require Export Model Logs Crossing Compose LemmaS TheoremA TheoremAPrime TheoremB0 TheoremB TheoremC0 TheoremCe Cut CutOne Headwise Sparse Thought TwoPass Within TwoSum Binomial Words CutTables CutSums CutSets CutDyck CutAverage CutTree CutFollow CutRecall PairForm.
From Rung Require Export TheoremSplit TheoremTop TheoremCausal Beside PairKernels Thoughts Eager TheoremC1 TheoremSP.
Export ListNotations.

# SPDX-License-Identifier: MIT
"""Folders of Hugging Face beside rung, in transformers.

hf_folder.py every FOLDER ANSWERS FORM SIZES...                     every prompt of a form of prompts.py: is the answer right?
hf_folder.py same FOLDER MODEL.safetensors ANSWERS WORST IDS        are the logits of the answers those of rung?
hf_folder.py text FOLDER TEXT ID...                                 are these the ids of the text, and is it their text?
"""
import sys

import numpy
import prompts
import torch
import transformers

NAME = f"transformers {transformers.__version__}, torch {torch.__version__}"


def read_ids(text):
    ids = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        ids += range(int(low), int(high or low) + 1)
    return ids


def load(folder):
    model, told = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    assert not any(told.values()), told
    return model.eval()


def logits(model, prompts_of_one_length):
    with torch.no_grad():
        return model(torch.tensor(prompts_of_one_length)).logits.numpy()


def every(folder, answers, form, *sizes):
    answers = read_ids(answers)
    asked = list(prompts.FORMS[form](*map(int, sizes)))
    rows = logits(load(folder), [ids for ids, _ in asked])[:, -1]
    wrong = [ids for (ids, right), row in zip(asked, rows, strict=True) if row.argmax() != answers[right]]
    print(f"{NAME}: {len(asked)} prompts, {len(wrong)} wrong answers")
    sys.exit(f"first wrong prompt: {wrong[0]}" if wrong else 0)


def same(folder, model_file, answers, worst, ids):
    import rung
    ids = list(map(int, ids.split(",")))
    theirs = logits(load(folder), [ids])[0][:, read_ids(answers)]
    with rung.Model(model_file) as model:
        ours = numpy.array(model.run(numpy.array(ids, dtype="uint32"), at=range(len(ids))))
    assert theirs.shape == ours.shape and abs(ours).max() > 0.01, (theirs.shape, ours.shape)
    difference = abs(ours - theirs).max() / abs(ours).max()
    print(f"{NAME}: {ours.size} logits, largest difference {difference:.2g} of the largest logit")
    sys.exit(0 if difference <= float(worst) else "they do not agree")


def text(folder, text, *ids):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    said = tokenizer(text)["input_ids"]
    assert said == list(map(int, ids)), said
    assert tokenizer.decode(said).split() == text.split(), tokenizer.decode(said)
    print(f"{text!r}: ids {said}")


if __name__ == "__main__":
    {"every": every, "same": same, "text": text}[sys.argv[1]](*sys.argv[2:])

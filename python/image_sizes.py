"""Runs the image processors of transformers on images of many sizes and writes what each makes of them, which
crates/core/src/job/images is compared with.

usage: image_sizes.py > tests/images/processors.jsonl    (transformers 5.23, torchvision; no network)

A line is [processor, height, width, [tiles, patches of a tile, positions of the text]], null where the processor raises. What a
processor takes from a checkpoint's preprocessor_config.json is written here; everything else is its class's default.
"""

import json
import random
import sys

import torch
from transformers import (
    Gemma3ImageProcessor,
    Gemma4ImageProcessor,
    Glm4vImageProcessor,
    Glm46VImageProcessor,
    GotOcr2ImageProcessor,
    Idefics3ImageProcessor,
    Llama4ImageProcessor,
    LlavaImageProcessor,
    LlavaNextImageProcessor,
    LlavaNextProcessor,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionProcessor,
    MllamaImageProcessor,
    MuseGlimmerImageProcessor,
    PixtralImageProcessor,
    Qwen2VLImageProcessor,
    SiglipImageProcessor,
    SmolVLMImageProcessor,
)

SIZES = [
    (1, 1), (10, 1), (28, 28), (30, 1000), (5, 1000), (5, 1001), (100, 100), (224, 224), (336, 336), (337, 336),
    (448, 448), (448, 897), (512, 384), (640, 480), (700, 1000), (896, 896), (1080, 1920), (1092, 868),
    (1093, 869), (1200, 1600), (1201, 1600), (1500, 2300), (50, 9000), (9000, 60), (3080, 1540), (4032, 3024),
    (6000, 6000), (333, 1999),
]  # fmt: skip


def sizes():
    chance = random.Random(0)
    return SIZES + [(chance.randrange(20, 2600), chance.randrange(20, 2600)) for _ in range(20)]


def given(processor, image, **more):
    return processor(images=[image], return_tensors="pt", **more)


def in_grid(processor):
    """Patches are merged by two on each side into a position."""

    def run(image):
        _, rows, columns = given(processor, image)["image_grid_thw"][0].tolist()
        return 1, rows * columns, rows * columns // 4

    return run


def in_tiles(processor, axis, patches, positions, **more):
    def run(image):
        tiles = given(processor, image, **more)["pixel_values"].shape[axis]
        return tiles, patches, tiles * positions

    return run


def pixtral(image):
    processor = PixtralImageProcessor(size={"longest_edge": 1540}, patch_size={"height": 28, "width": 28})
    height, width = (int(side) for side in given(processor, image)["image_sizes"][0])
    return 1, (height // 14) * (width // 14), (height // 28) * (width // 28)


def gemma4(image):
    found = given(Gemma4ImageProcessor(), image)
    return 1, found["pixel_values"].shape[1], int(found["num_soft_tokens_per_image"][0])


def put_together(processor_class, image_processor, side, **attributes):
    """The processor without a tokenizer, whose count of features needs none."""
    processor = processor_class.__new__(processor_class)
    processor.image_processor = image_processor
    for name, value in attributes.items():
        setattr(processor, name, value)

    def run(image):
        found = given(image_processor, image)["pixel_values"]
        features = processor._get_number_of_features(*image.shape[-2:], *found.shape[-2:])
        return found.shape[1], side * side, features - getattr(processor, "num_additional_image_tokens", 0)

    return run


def square(pixels):
    return {"height": pixels, "width": pixels}


def area(processor, least, most, patch_size):
    return in_grid(processor(size={"shortest_edge": least, "longest_edge": most}, patch_size=patch_size))


PROCESSORS = {
    "qwen2_vl": area(Qwen2VLImageProcessor, 3136, 12845056, 14),
    "qwen3_vl": area(Qwen2VLImageProcessor, 65536, 16777216, 16),
    "qwen3_omni": area(Qwen2VLImageProcessor, 3136, 12845056, 16),
    "exaone4_5": in_grid(Qwen2VLImageProcessor()),
    "glm4v": area(Glm4vImageProcessor, 12544, 9633792, 14),
    "glm46v": area(Glm46VImageProcessor, 12544, 9633792, 14),
    "muse_glimmer": in_grid(MuseGlimmerImageProcessor()),
    "internvl": in_tiles(GotOcr2ImageProcessor(size=square(448)), 0, 1024, 256, crop_to_patches=True),
    "llama4": in_tiles(Llama4ImageProcessor(), 0, 576, 144),
    "mllama": in_tiles(MllamaImageProcessor(size=square(560)), 2, 1600, 0),
    "gemma3": in_tiles(Gemma3ImageProcessor(size=square(896)), 0, 4096, 256),
    "gemma4": gemma4,
    "mistral3": pixtral,
    "idefics3": in_tiles(Idefics3ImageProcessor(), 1, 676, 169),
    "smolvlm": in_tiles(
        SmolVLMImageProcessor(size={"longest_edge": 1536}, max_image_size={"longest_edge": 384}), 1, 729, 81
    ),
    "smolvlm2": in_tiles(
        SmolVLMImageProcessor(size={"longest_edge": 2048}, max_image_size={"longest_edge": 512}), 1, 1024, 64
    ),
    "llava": in_tiles(LlavaImageProcessor(size={"shortest_edge": 336}, crop_size=square(336)), 0, 576, 576),
    "paligemma": in_tiles(SiglipImageProcessor(size=square(448)), 0, 1024, 1024),
    "llava_next": put_together(
        LlavaNextProcessor,
        LlavaNextImageProcessor(size={"shortest_edge": 336}, crop_size=square(336)),
        24,
        patch_size=14,
        num_additional_image_tokens=1,
    ),
    "llava_onevision": put_together(
        LlavaOnevisionProcessor,
        LlavaOnevisionImageProcessor(),
        27,
        num_image_tokens=729,
        vision_aspect_ratio="anyres_max_9",
    ),
}


def main():
    for name, run in PROCESSORS.items():
        for height, width in sizes():
            try:
                found = run(torch.zeros(3, height, width, dtype=torch.uint8))
            except (ValueError, ZeroDivisionError, RuntimeError) as error:
                print(f"{name} {height} x {width}: {error}", file=sys.stderr)
                found = None
            print(json.dumps([name, height, width, found]))


if __name__ == "__main__":
    main()

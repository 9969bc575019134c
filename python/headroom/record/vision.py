"""Images in a recording: what a class's processor hands to its model, and answers for what reads the values of tensors that have none.

`images.count` is how many images the tower sees at once (tiles count one by one), `images.patches` how many patches they have: each, or all
together where the tower takes them packed one behind the other; `images.windows` how many windows a tower with windowed attention makes
of all. What is packed is recorded with one image: more are as many patches as one larger image, in attention pieces of their own.
"""

import inspect
import sys

import torch

from . import chosen

# The trace that runs, if one does: what has to be recorded as one operator asks it.
current = lambda: None

# The patches of an image's two sides in recordings, where these are whole windows and mergers of its tower.
GRID = (48, 24)
# Of a class that packs what tiles give: tiles on an image's two sides, and the rows and columns of padding between them that are cut away.
TILES = (2, 3, 0, 4)
OTHER_TILES = ((3, 3, 0, 4), (2, 5, 0, 4), (2, 3, 0, 8), (2, 3, 6, 0))
# Image tokens that one image's features become in the text, of the newest masked_scatter: what a mask of image tokens selects.
_selected = [0]
# Sequences and tokens of the recording that runs.
_tokens = [()]


def has_images(config):
    return getattr(config, "vision_config", None) is not None and getattr(config, "text_config", None) is not None


def packs(config):
    """Whether the class takes the patches of all images as one sequence."""
    return takes_grids(config) or has_sides(config)


def takes_grids(config):
    """Whether a processor hands it patches, and of each image how many there are on its sides."""
    return "image_grid_thw" in arguments_of(config)


def arguments_of(config):
    """Names of what the forward of the config's class takes."""
    from transformers import AutoModelForImageTextToText as Auto

    found = Auto._model_mapping[type(config)] if type(config) in Auto._model_mapping else None
    return () if found is None else tuple(inspect.signature(found.forward).parameters)


def has_sides(config):
    """Whether the tower takes images as pixels, each with sides of its own, and makes one sequence of their patches."""
    return config.vision_config.model_type == "pixtral"


def packs_tiles(config):
    """Whether what a tower gives of an image's tiles is put together as the image was, without its padding and with a newline behind each
    row (LLaVA-OneVision)."""
    return has_images(config) and getattr(config, "image_grid_pinpoints", None) is not None and "image_sizes" in arguments_of(config)


def features_of(config, tiles):
    """Rows and columns of features that are left of an image in so many tiles."""
    side = sides_of(config.vision_config)[0] // config.vision_config.patch_size
    rows, columns, above, beside = tiles
    return rows * side - above, columns * side - beside


def sample(config, batch=2):
    """The images of a recording: one where they are packed, else more than one, as views of one image are copies of several; of a class
    that takes those of each sequence together one of every sequence, with all its tiles."""
    if packs_tiles(config):
        return 1, TILES
    if has_images(config) and tiles_by_sequence(config):
        return batch * config.vision_config.max_num_tiles, GRID
    return (1 if has_images(config) and packs(config) else 2), grid_of(config)


def grid_of(config):
    """The patches of an image's two sides in recordings: whole windows, as pieces of attention are of one length in a program."""
    side, merge = (has_images(config) and window_of(config.vision_config)) or (1, 1)
    if all(patches % (side * merge) == 0 for patches in GRID):
        return GRID
    return 2 * side * merge, side * merge


def tiles_by_sequence(config):
    """Whether it takes as many tiles of every image, and the images of each sequence together (Llama 3.2 Vision)."""
    return "aspect_ratio_mask" in arguments_of(config)


def is_square(config):
    """Whether every image, or tile of one, is brought to the size that the tower's config says."""
    return hasattr(config.vision_config, "image_size") and not packs(config)


def sides_of(vision):
    """Height and width of a tile in pixels."""
    side = vision.image_size
    return tuple(side) if isinstance(side, (list, tuple)) else (side, side)


def is_tiled(vision):
    """Whether every image of a tower is cut into tiles of one size, or brought to it, so that the mask of its patches is all true, and
    left out (transformers masking_utils.py `_ignore_bidirectional_mask_sdpa`)."""
    return vision.model_type in ("idefics3_vision", "smolvlm_vision")


def names(config, images):
    """What the program's names of images are in a recording."""
    if packs_tiles(config):
        return names_of_tiles(config, images[1])
    count, (height, width) = images
    said = {"images.count": count, "images.patches": height * width}
    if has_sides(config):
        # One image below the other.
        said |= {"images.rows": count * height, "images.columns": width}
    if is_square(config):
        patch = config.vision_config.patch_size
        said["images.side"] = sides_of(config.vision_config)[0] // (patch[0] if isinstance(patch, (list, tuple)) else patch)
    window = window_of(config.vision_config)
    if window:
        side, merge = window
        said["images.windows"] = -(-(height // merge) // side) * -(-(width // merge) // side)
    return said


def window_of(vision):
    """The side of an attention window, and how many patches of a side it counts as one; none where the tower has no windows."""
    pixels = getattr(vision, "window_size", None)
    if isinstance(pixels, int):
        return pixels // vision.spatial_merge_size // vision.patch_size, vision.spatial_merge_size
    if "window_attention" in (getattr(vision, "layer_types", None) or ()):
        # Muse Glimmer: as wide as its table of positions, before patches are merged.
        return vision.pos_emb_height, 1
    return None


def names_of_tiles(config, tiles):
    """The same of one image in tiles, the whole of it among them: several count as one below the other."""
    side = sides_of(config.vision_config)[0] // config.vision_config.patch_size
    rows, columns = features_of(config, tiles)
    return {
        "images.count": 1 + tiles[0] * tiles[1], "images.side": side, "images.tile_rows": tiles[0], "images.tile_columns": tiles[1],
        "images.feature_rows": rows, "images.feature_columns": columns, "images.positions": side**2 + rows * (columns + 1),
    }


def others(config):
    """More images than those of `sample`, and larger ones, where the class takes them in any size."""
    count, (height, width, *_) = sample(config)
    if packs_tiles(config):
        return [(count, tiles) for tiles in OTHER_TILES]
    larger = [(count, (2 * height, width)), (count, (height, 2 * width))]
    if packs(config):
        return larger
    return [(2 * count if tiles_by_sequence(config) else count + 1, (height, width)), *larger]


def shorten(vision):
    """Fewer layers of the tower, every kind among them: layers that a list names stay as many, each behind one that is not named."""
    key = next((key for key in ("depth", "num_hidden_layers") if isinstance(getattr(vision, key, None), int)), None)
    if key is None:
        return
    count = getattr(vision, key)
    lists = {name: value for name, value in vision.to_dict().items() if is_places(value, count)}
    longest = max((len(value) for value in lists.values()), default=1)
    fewer = 2 * longest + 2
    named = {name: value for name, value in vision.to_dict().items() if isinstance(value, (list, tuple)) and len(value) == count}
    # As many layers as have each of the names that a list gives them.
    fewer = max([fewer, *(next(n for n in range(count + 1) if set(value[:n]) == set(value)) for value in named.values())])
    if fewer >= count:
        return
    for name, value in named.items():
        setattr(vision, name, list(value)[:fewer])
    for name, value in lists.items():
        setattr(vision, name, [2 * i + 1 for i in range(len(value))])
    setattr(vision, key, fewer)


def is_places(value, count):
    numbers = isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    return numbers and len(set(value)) == len(value) and max(value) < count and len(value) < count


def inputs_of(decoder, config, batch, length, size):
    """Arguments of the model's forward beside `input_ids`."""
    count, (height, width, *_) = size.images
    takes = inspect.signature(decoder.forward).parameters
    vision = config.vision_config
    given = {}
    _tokens[0] = (batch, length)
    with torch.device("meta"):
        if "image_grid_thw" in takes:
            frames = getattr(vision, "temporal_patch_size", getattr(vision, "patch_temporal", 1))
            patch = frames * vision.patch_size**2 * getattr(vision, "in_channels", 3)
            given["pixel_values"] = torch.zeros(count * height * width, patch, dtype=size.pixels)
            given["image_grid_thw"] = torch.tensor([[1, height, width]] * count, device="cpu")
            # A class may put something else in the place of image tokens before it embeds them.
            merge = getattr(vision, "spatial_merge_size", getattr(vision, "merge_size", 1))
            _selected[0] = count * height * width // merge**2
            if any("rope" in name for name in dir(type(decoder))):
                given["position_ids"] = torch.zeros(3, batch, length, dtype=torch.long)
        elif "image_position_ids" in takes:
            given["pixel_values"] = torch.zeros(count, height * width, 3 * vision.patch_size**2, dtype=size.pixels)
            given["image_position_ids"] = torch.zeros(count, height * width, 2, dtype=torch.long)
            # The class counts image tokens before it puts their features there.
            _selected[0] = count * height * width // getattr(vision, "pooling_kernel_size", 1) ** 2
        elif "aspect_ratio_mask" in takes:
            tiles = vision.max_num_tiles
            each, sides = count // tiles // batch, sides_of(vision)
            given["pixel_values"] = torch.zeros(batch, each, tiles, 3, *sides, dtype=size.pixels)
            given["aspect_ratio_ids"] = torch.zeros(batch, each, dtype=torch.long)
            given["aspect_ratio_mask"] = torch.zeros(batch, each, tiles, dtype=torch.long)
            given["cross_attention_mask"] = torch.zeros(batch, length, each, tiles, dtype=torch.long)
        elif packs_tiles(config):
            sides = sides_of(vision)
            given["pixel_values"] = torch.zeros(count, 1 + height * width, 3, *sides, dtype=size.pixels)
            # An image as high and wide as the features that are left of it, brought to the one size that there is.
            config.image_grid_pinpoints = [[height * sides[0], width * sides[1]]]
            given["image_sizes"] = torch.tensor([features_of(config, size.images[1])] * count, device="cpu")
        elif has_sides(config):
            sides = [height * vision.patch_size, width * vision.patch_size]
            given["pixel_values"] = torch.zeros(count, 3, *sides, dtype=size.pixels)
            given["image_sizes"] = torch.tensor([sides] * count, device="cpu")
        else:
            sides = sides_of(vision)
            # Some classes take the tiles of each sequence by themselves; their tower sees them all the same.
            by_sequence = (1,) if "pixel_attention_mask" in takes else ()
            given["pixel_values"] = torch.zeros(*by_sequence, count, 3, *sides, dtype=size.pixels)
            if by_sequence:
                given["pixel_attention_mask"] = torch.zeros(1, count, *sides, dtype=torch.long)
        for name in ("token_type_ids", "mm_token_type_ids"):
            if name in takes:
                given[name] = torch.zeros(batch, length, dtype=torch.long)
    return given


class MaskedScatter(torch.autograd.Function):
    """`torch.masked_scatter`; the gradient of its source is what the mask selects, whose number the device knows alone."""

    of_aten = True

    @staticmethod
    def forward(context, tensor, mask, source):
        context.save_for_backward(mask)
        context.source = source.shape
        _selected[0] = source.numel() // tensor.shape[-1]
        return torch.ops.aten.masked_scatter(tensor, mask.expand_as(tensor), source)

    @staticmethod
    def backward(context, gradient):
        (mask,) = context.saved_tensors
        own = gradient.masked_fill(mask, 0) if context.needs_input_grad[0] else None
        if not context.needs_input_grad[2]:
            return own, None, None
        count = context.source.numel()
        # masked_select: the places of what is selected, three of int64, then the values.
        places = torch.empty(gradient.dim(), count, dtype=torch.long, device=gradient.device)
        values = torch.empty(count, dtype=gradient.dtype, device=gradient.device)
        del places
        return own, None, values.view(context.source)


def is_beside_text(query):
    """Whether attention of an image class is no text's."""
    return bool(_tokens[0]) and (query.shape[0], query.shape[2]) != _tokens[0]


def is_wide(recording, model):
    """Whether the tower runs in the pixels' fp32 and not in its own dtype."""
    run = recording.plain
    return run.trace.values[run.entries[0]].dtype != model.dtype


def masked_scatter(tensor, mask, source):
    trace = current()
    if trace is None:
        return MaskedScatter.apply(tensor, mask, source)
    with trace.call("masked_scatter", [tensor, mask, source], {}) as op:
        out = MaskedScatter.apply(tensor, mask, source)
    trace.result(op, [tensor, mask, source], out)
    return out


def shares(tensor, sizes, dim):
    """Lengths that only the device knows, which were read as 1: equal parts."""
    if not isinstance(sizes, (list, tuple)) or set(sizes) != {1} or tensor.shape[dim] % max(1, len(sizes)):
        return sizes
    return [tensor.shape[dim] // len(sizes)] * len(sizes)


def with_places(index):
    """An index by masks as CUDA takes it: by the places that are true."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, torch.Tensor) and part.dtype == torch.bool and part.device.type == "meta" for part in parts):
        return index
    if not _tokens[0] or chosen.is_within():
        # Of a text alone, or of a mixture's tokens.
        return index
    found = []
    for part in parts:
        if isinstance(part, torch.Tensor) and part.dtype == torch.bool:
            # Of tokens those that stand for images; of what a tower makes, all.
            count = _selected[0] * part[0, 0].numel() if tuple(part.shape[:2]) == _tokens[0] else part.numel()
            places = torch.empty(count, part.dim(), dtype=torch.long, device="meta")
            found.extend(places.unbind(1))
        else:
            found.append(part)
    return tuple(found)


def filled(tensor, mask, value):
    """Whether it was a mask and a number, which CUDA fills without looking for places (aten TensorAdvancedIndexing.cpp
    `canDispatchToMaskedFill`)."""
    is_mask = isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.device.type == "meta"
    if not is_mask or not isinstance(value, (int, float)):
        return False
    tensor.masked_fill_(mask.view(*mask.shape, *[1] * (tensor.dim() - mask.dim())), value)
    return True


def prepare():
    """Once for a process."""
    of_get, of_set = torch.Tensor.__getitem__, torch.Tensor.__setitem__
    torch.Tensor.__getitem__ = lambda t, index: of_get(t, with_places(index))
    torch.Tensor.__setitem__ = lambda t, index, value: filled(t, index, value) or of_set(t, with_places(index), value)
    torch.Tensor.masked_scatter = masked_scatter
    of_list, of_split, of_own_split = torch.Tensor.tolist, torch.split, torch.Tensor.split
    torch.Tensor.tolist = lambda t: [1] * t.shape[0] if t.device.type == "meta" and t.dim() == 1 else of_list(t)
    torch.split = lambda t, sizes, dim=0: of_split(t, shares(t, sizes, dim), dim)
    torch.Tensor.split = lambda t, sizes, dim=0: of_own_split(t, shares(t, sizes, dim), dim)


def on_host(model):
    """Lets functions that read an image's grid read it on the host, and puts what they make onto the device, as a GPU would have it."""
    for module in model.modules():
        if {"lengths", "image_shapes"} <= set(inspect.signature(module.forward).parameters):
            # Reads no value of them.
            module.register_forward_pre_hook(lambda _, given: tuple(onto_device(one, "") for one in given))
    modules = {type(module).__module__ for module in model.modules()}
    for name in modules:
        module = sys.modules[name]
        if hasattr(module, "torch_compilable_check"):
            module.torch_compilable_check = lambda *_, **__: None
        for function in [f for f in dir(module) if f.startswith("get_vision_") or f == "get_max_seqlen"]:
            real = getattr(module, function)
            if not callable(real) or getattr(real, "on_host", False):
                continue
            setattr(module, function, moved(real, function))


def moved(real, name):
    def call(*arguments, **keywords):
        with torch.device("cpu"):
            found = real(*arguments, **keywords)
        return onto_device(found, name)

    call.on_host = True
    return call


def onto_device(found, name):
    """Lengths of sequences stay where their values can be read; everything else has sizes alone."""
    if isinstance(found, (tuple, list)):
        if "seqlen" in name:
            return found
        keep = 1 if "window" in name else None
        return tuple(one if i == keep else onto_device(one, name) for i, one in enumerate(found))
    if isinstance(found, torch.Tensor) and "seqlen" not in name and found.device.type == "cpu":
        return torch.empty(found.shape, dtype=found.dtype, device="meta")
    return found

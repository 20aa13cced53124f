"""The 256 words by which a person compares two keys: short, and told apart by four letters.

Their order is what a unit and a computer agree on: it never changes.
"""

from __future__ import annotations

WORDS = (
    "acorn", "alder", "amber", "anchor", "apple", "apron", "arrow", "aspen", "atlas", "autumn",
    "axle", "badger", "bagel", "banjo", "barley", "barn", "basil", "basket", "beacon", "beaver",
    "beetle", "bell", "berry", "birch", "bison", "blanket", "blossom", "board", "bonfire", "boot",
    "bottle", "boulder", "bowl", "branch", "bread", "bridge", "brook", "bucket", "buffalo",
    "butter", "cabin", "cactus", "camel", "candle", "canoe", "canvas", "canyon", "carrot",
    "castle", "cattle", "cedar", "cellar", "chalk", "cherry", "chisel", "cider", "circle",
    "cloud", "clover", "coast", "cobalt", "coffee", "comet", "compass", "copper", "coral",
    "cotton", "cougar", "coyote", "cradle", "crane", "crater", "cream", "cricket", "crow",
    "crystal", "curtain", "dagger", "daisy", "dawn", "deer", "delta", "desert", "dew", "diamond",
    "dingo", "dock", "dolphin", "donkey", "door", "dragon", "drum", "duck", "dune", "eagle",
    "easel", "echo", "elbow", "elder", "elk", "elm", "ember", "emerald", "engine", "fable",
    "falcon", "farmer", "feather", "fence", "fern", "ferry", "fiddle", "field", "finch", "fir",
    "flag", "flame", "flint", "flower", "flute", "fog", "forest", "fork", "fossil", "fox",
    "frost", "garden", "garlic", "gate", "gecko", "ginger", "glacier", "globe", "glove", "goat",
    "goose", "grain", "granite", "grape", "grass", "gravel", "grove", "guitar", "gull", "hammer",
    "harbor", "hare", "harp", "hawk", "hazel", "heron", "hickory", "hill", "hollow", "honey",
    "hoof", "horn", "horse", "igloo", "indigo", "iris", "island", "ivory", "ivy", "jacket",
    "jaguar", "jar", "jasmine", "jewel", "juniper", "kayak", "kettle", "kite", "kiwi", "ladder",
    "lagoon", "lake", "lantern", "larch", "lark", "laurel", "lemon", "lily", "linen", "lion",
    "lizard", "lobster", "lotus", "lunar", "lynx", "magnet", "mango", "maple", "marble", "marsh",
    "meadow", "melon", "mint", "mirror", "moose", "moss", "motor", "muffin", "mustard", "nectar",
    "needle", "nest", "nickel", "night", "north", "nutmeg", "oak", "oasis", "oat", "ocean",
    "olive", "onion", "opal", "orange", "orbit", "orchid", "otter", "owl", "oyster", "paddle",
    "panda", "panther", "paper", "parrot", "peach", "pear", "pebble", "pencil", "penguin",
    "pepper", "pigeon", "pillow", "pine", "planet", "plum", "pond", "poplar", "poppy", "prairie",
    "puffin", "pumpkin", "quail", "quartz", "quill", "radish", "raven", "ribbon", "river",
    "robin", "saddle", "salmon",
)  # fmt: skip

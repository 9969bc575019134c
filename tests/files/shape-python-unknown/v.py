from trl import SFTConfig
import sys
if len(sys.argv) > 1:
    n = 4
else:
    n = 8
cfg = SFTConfig(per_device_train_batch_size=n, max_length=int(sys.argv[1]), packing=True)

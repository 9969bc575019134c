CUDA_VISIBLE_DEVICES=0,1,2,3 accelerate launch -m axolotl.cli.train full.yml

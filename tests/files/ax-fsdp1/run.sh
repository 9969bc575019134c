axolotl train f.yml --num-processes 8

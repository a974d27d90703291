import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    backup: 'src/backup/index.ts',
    doctor: 'src/doctor/index.ts',
    move: 'src/move/index.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  sourcemap: true,
});

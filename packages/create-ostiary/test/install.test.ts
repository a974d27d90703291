import { expect, it, vi } from 'vitest';
import { installCommand } from '../src/install.ts';

it.each(['/home/ana/code', '/home/ana/ostiary'])('the packed packages are found beside %s', (folder) => {
  using _cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const first = (app: string) => installCommand({ folder: app, storage: 'sqlite' }, false).split(' ')[2];
  expect(first('my-app')).toBe('../../ostiary/packed/ostiary-core.tgz');
  expect(first('apps/mine')).toBe('../../../ostiary/packed/ostiary-core.tgz');
  expect(first('.')).toBe('../ostiary/packed/ostiary-core.tgz');
});

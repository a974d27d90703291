import { randomBytes } from 'node:crypto';
import type { Choices } from './choices.ts';
import type { Files } from './folder.ts';
import { manifestOf } from './manifest.ts';
import { templateFiles } from './template.ts';

/** Makes all files of a new app, with a new sealing key. */
export function appFiles(choices: Choices): Files {
  const files = new Map(templateFiles(choices));
  const example = files.get('.env.example') ?? '';
  const key = randomBytes(32).toString('base64url');
  files.set('package.json', manifestOf(choices));
  files.set('.env', example.replace(/^SEALING_KEY=$/m, `SEALING_KEY=${key}`));
  return files;
}

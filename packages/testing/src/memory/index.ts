export { memoryStorage } from './storage.ts';

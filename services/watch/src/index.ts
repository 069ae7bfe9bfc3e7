/** The watch service: filters and encodes change events once for all watches. */
export { type ChangeSource, type ChangeSourceOptions, createChangeSource } from './change-source/index.ts'
export { type Convert, type Target, unconverted } from './frames.ts'
export type { WatchLimits } from './limits.ts'
export { createWatch, type Watch, type WatchOptions } from './watch.ts'

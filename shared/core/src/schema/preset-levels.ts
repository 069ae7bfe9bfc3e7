import type { LevelSet } from '../description/levels.ts'

/**
 * The levels at which types change; types without an entry never change. The bundler inserts the result of
 * `levelsOfAllTypes`, because computing it at run time resolves hundreds of types. Undefined without a bundler.
 */
export const presetLevels: Readonly<Record<string, LevelSet>> | undefined = undefined

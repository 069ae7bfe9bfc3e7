import type { LevelSet } from '../description/levels.ts'

/**
 * The levels at which types differ from the level before; a type that is not named never does. The bundler puts the table of
 * `levelsOfAllTypes` here: finding it at run time describes hundreds of types. Undefined: no bundler has.
 */
export const presetLevels: Readonly<Record<string, LevelSet>> | undefined = undefined

/** Bounds of reading YAML, each with the reason for its number. */
export const yamlLimits = {
  /** Levels that a text may be deep: the parser calls itself for each, and objects are refused beyond a thousand in any case. */
  depthMax: 1_010,
  /** Values behind the aliases of one text: every step of a write looks at each of them. */
  aliasedValuesMax: 100_000,
  /** Characters behind the aliases of one text: as many as a body may hold. */
  aliasedCharactersMax: 3 * 1024 * 1024,
  /** Keys that are named when they are there more than once; further names would not help. */
  repeatsMax: 100,
  /** Characters of indentation that are added where YAML 1.1 does not ask for them; a text that takes more is refused. */
  indentationMax: 1024 * 1024,
  /** Levels of a key that a message shows. */
  keyDepthMax: 20,
} as const

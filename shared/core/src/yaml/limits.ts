/** Limits of the YAML parser, each with its reason. */
export const yamlLimits = {
  /** Nesting depth: the parser is recursive, and objects deeper than a thousand are refused anyway. */
  depthMax: 1_010,
  /** Values behind aliases: every step of a write reads each of them. */
  aliasedValuesMax: 100_000,
  /** Characters behind aliases: the maximum size of a body. */
  aliasedCharactersMax: 3 * 1024 * 1024,
  /** Reported duplicate keys; more would not be useful. */
  repeatsMax: 100,
  /** Characters of added indentation, where YAML 1.1 does not require indentation; a text that needs more is refused. */
  indentationMax: 1024 * 1024,
  /** Depth of a key in a message. */
  keyDepthMax: 20,
} as const

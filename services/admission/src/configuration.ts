/** What the admission configuration file says about one plugin. */
export interface PluginConfiguration {
  /** The document, parsed: plain data. */
  readonly value: unknown
  /** The file in which it stands; for messages, and relative paths in it start at its folder. */
  readonly file: string
}

/** A plugin's configuration, or the choice of plugins, is wrong; the message says where and what was expected. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

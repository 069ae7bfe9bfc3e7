/** A client configuration that cannot be used; the message names what is wrong. */
export class ConfigurationError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ConfigurationError'
  }
}

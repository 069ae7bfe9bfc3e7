/** An unusable client configuration; the message names the error. */
export class ConfigurationError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ConfigurationError'
  }
}

/** One thing that must be well before the server is ready. */
export interface HealthCheck {
  readonly name: string
  /** undefined: well; a text: what is wrong, for the log. Clients read only that it failed. */
  check(): string | undefined | Promise<string | undefined>
}

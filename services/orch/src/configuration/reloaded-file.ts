import { type Clock, counter, declareMetrics, gauge, type Log, loadYamlFile, type Metrics, messageOf } from '@orch/platform'

export interface ReloadedFileOptions<T> {
  readonly flag: string
  readonly file: string
  /** The name in log lines and metrics: `encryption`. */
  readonly what: string
  /** Reads the file; by default as one document of YAML. */
  readonly read?: () => unknown
  /** Parses the contents of the file; rejects invalid ones. */
  readonly parse: (value: unknown) => T | Promise<T>
  readonly log: Log
}

/** Interval of reading a small file. */
const pollMs = 10_000

/**
 * A configuration file that is reloaded when it changes. An invalid one leaves the current one in use, and is reported once: in the log, and by
 * kube-apiserver's metrics `apiserver_<what>_config_controller_automatic_reload…`.
 */
export class ReloadedFile<T> {
  readonly #options: ReloadedFileOptions<T>
  #onEnd: (status: 'success' | 'failure') => void = () => {}
  /** The text of the configuration in use. */
  #present = ''
  #complaint = ''
  #isRunning = false

  constructor(options: ReloadedFileOptions<T>) {
    this.#options = options
  }

  /** The first configuration; rejects if it is invalid. */
  async read(): Promise<T> {
    const { given, text } = await this.#readFile()
    const value = await this.#options.parse(given)
    this.#present = text
    return value
  }

  /** Calls `apply` with each new configuration; `stop` stops that. */
  follow(clock: Clock, apply: (value: T) => void): { stop(): void } {
    const poll = clock.every(pollMs, () => void this.#reload(apply))
    return { stop: () => poll.cancel() }
  }

  /** Calls `listener` after each reload. */
  onEnd(listener: (status: 'success' | 'failure') => void): void {
    this.#onEnd = listener
  }

  addMetrics(metrics: Metrics, clock: Clock): void {
    const { what } = this.#options
    const prefix = `apiserver_${what}_config_controller_automatic_reload`
    const labels = ['status'] as const
    const help = `[ALPHA] Total number of reload successes and failures of ${what} configuration.`
    const { [`${prefix}s_total`]: count } = declareMetrics(metrics, { [`${prefix}s_total`]: counter(help, labels) })
    const name = `${prefix}_last_timestamp_seconds`
    const helpOfTime = `[ALPHA] Timestamp of the last successful or failed automatic reload of ${what} configuration.`
    const { [name]: time } = declareMetrics(metrics, { [name]: gauge(helpOfTime, labels) })
    this.onEnd((status) => {
      count?.inc({ status })
      time?.set({ status }, clock.now() / 1_000)
    })
  }

  async #reload(apply: (value: T) => void): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { file, what, parse, log } = this.#options
    try {
      const { given, text } = await this.#readFile()
      const value = text === this.#present ? undefined : { parsed: await parse(given) }
      this.#complaint = ''
      if (value === undefined) return
      apply(value.parsed)
      this.#present = text
      log.info({ file }, `a new ${what} configuration is in use`)
      this.#onEnd('success')
    } catch (error) {
      if (messageOf(error) === this.#complaint) return
      this.#complaint = messageOf(error)
      log.error({ err: error, file }, `the new ${what} configuration cannot be used; the present one stays in use`)
      this.#onEnd('failure')
    } finally {
      this.#isRunning = false
    }
  }

  async #readFile(): Promise<{ readonly given: unknown; readonly text: string }> {
    const { flag, file, read = () => loadYamlFile(flag, file) } = this.#options
    const given = await read()
    return { given, text: JSON.stringify(given) }
  }
}

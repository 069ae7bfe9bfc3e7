import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  type Clock,
  counter,
  declareMetrics,
  gauge,
  type Log,
  loadYamlFile,
  type Metrics,
  messageOf,
  type PairFiles,
  SettingsError,
  systemCodeOf,
} from '@orch/platform'

/** The text of a file that a flag names. */
export function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: the file cannot be read (${systemCodeOf(error)})`)
  }
}

/** The value in a file that a flag names; an error names both. */
export function parseFlagFile<T>(flag: string, path: string, parse: (text: string) => T): T {
  const text = readFlagFile(flag, path)
  try {
    return parse(text)
  } catch (error) {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  }
}

/** A certificate and its key, each in a file that a flag names. */
export interface PairFlags {
  readonly certificate: { readonly flag: string; readonly path: string }
  readonly key: { readonly flag: string; readonly path: string }
}

/** The texts of both files, which belong together. */
export function readPairFiles({ certificate, key }: PairFlags): { readonly certificate: string; readonly key: string } {
  const texts = { certificate: readCertificateFile(certificate.flag, certificate.path), key: readFlagFile(key.flag, key.path) }
  if (!new X509Certificate(texts.certificate).checkPrivateKey(parseKey(key, texts.key))) {
    throw new SettingsError(`${key.flag}=${key.path}: this is not the key of the certificate in ${certificate.flag}=${certificate.path}`)
  }
  return texts
}

/** Both contents with their paths; undefined if neither file is set. */
export function readPairIfNamed({ certificate, key }: PairFlags) {
  if (certificate.path === '' && key.path === '') return undefined
  if (key.path === '') throw new SettingsError(`${certificate.flag} needs ${key.flag}`)
  if (certificate.path === '') throw new SettingsError(`${key.flag} needs ${certificate.flag}`)
  const files: PairFiles = { certificateFile: certificate.path, keyFile: key.path }
  return { pair: readPairFiles({ certificate, key }), files }
}

/** A user and the password in a file, which must be set together; undefined if neither is. */
export function readPasswordFile(prefix: string, user: string, path: string) {
  if ((user === '') !== (path === '')) throw new SettingsError(`${prefix}-username and ${prefix}-password-file go together`)
  return user === '' ? undefined : { user, password: readFlagFile(`${prefix}-password-file`, path).replace(/\r?\n$/, '') }
}

function parseKey({ flag, path }: PairFlags['key'], text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw new SettingsError(`${flag}=${path}: the file holds no private key in PEM form`)
  }
}

/** The text of a file of certificates that a flag names. */
export function readCertificateFile(flag: string, path: string): string {
  const text = readFlagFile(flag, path)
  try {
    new X509Certificate(text)
  } catch {
    throw new SettingsError(`${flag}=${path}: the file holds no certificate in PEM form`)
  }
  return text
}

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

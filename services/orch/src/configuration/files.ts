import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, type Log, loadYamlFile, type Metrics, messageOf, type PairFiles, readFlagFile, SettingsError } from '@orch/platform'

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
  /** Reads what the file holds, and its bytes; by default one document of YAML. */
  readonly read?: () => { readonly given: unknown; readonly text: string }
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
  #onEnd: (status: ReloadStatus) => void = () => {}
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

  addMetrics(metrics: Metrics, clock: Clock): void {
    this.count(declareReloads(metrics, this.#options.what), clock)
  }

  /** Counts each reload, and shows the hash of the configuration in use. Returns a function that counts one more. */
  count(reloads: ReloadMetrics, clock: Clock, labels: Labels = {}): (status: ReloadStatus) => void {
    const own = { apiserver_id_hash: hashOf(identityOf(hostname())), ...labels }
    let shown = hashOf(this.#present)
    reloads.show({ ...own, hash: shown })
    this.#onEnd = (status) => {
      reloads.end({ ...own, status }, clock.now())
      reloads.hide({ ...own, hash: shown })
      shown = hashOf(this.#present)
      reloads.show({ ...own, hash: shown })
    }
    return this.#onEnd
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
    const { flag, file, read } = this.#options
    if (read !== undefined) return read()
    const text = readFlagFile(flag, file)
    return { given: await loadYamlFile(flag, file, text), text }
  }
}

type ReloadStatus = 'success' | 'failure'
type ReloadMetrics = ReturnType<typeof declareReloads>

/** kube-apiserver's metrics of a configuration that is reloaded; `labels` are those beside status and server. */
export function declareReloads(metrics: Metrics, what: string, name = what, labels: readonly string[] = []) {
  const declared = (end: string, help: string, label: string) => ({
    name: `apiserver_${name}_config_controller_${end}`,
    help: `[ALPHA] ${help} ${what} configuration, by server.`,
    labels: ['apiserver_id_hash', ...labels, label],
  })
  const total = metrics.counter(declared('automatic_reloads_total', 'Total number of automatic reloads of', 'status'))
  const time = metrics.gauge(declared('automatic_reload_last_timestamp_seconds', 'Timestamp of the last automatic reload of', 'status'))
  const info = metrics.gauge(declared('last_config_info', 'Hash of the present', 'hash'))
  return {
    end: (labels: Labels, nowMs: number) => {
      total.inc(labels)
      time.set(labels, nowMs / 1_000)
    },
    show: (labels: Labels) => info.set(labels, 1),
    hide: (labels: Labels) => info.remove(labels),
  }
}

type Labels = Readonly<Record<string, string>>

const hashOf = (text: string): string => (text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`)

/** The name that kube-apiserver has on the same machine: base32 of half a hash. */
export function identityOf(host: string): string {
  const parts = [host, 'kube-apiserver'].map((text) => Buffer.from(`\0${String.fromCharCode(text.length)}${text}`))
  const bytes = createHash('sha256').update(Buffer.concat(parts)).digest().subarray(0, 16)
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  return `apiserver-${digits.map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`
}

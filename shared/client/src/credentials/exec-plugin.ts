import { type ChildProcess, spawn } from 'node:child_process'
import { isAbsolute, join, sep } from 'node:path'
import { isJsonObject, isTexts } from '@orch/core/json'
import { type Names, namesOf, profiles } from '@orch/core/names'
import { ConfigurationError } from '../configuration-error.ts'
import type { Credential, CredentialSource, CredentialSurroundings } from './credential.ts'

/** A program that prints credentials: the `exec` of a user in a client configuration. */
export interface ExecConfiguration {
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly apiVersion: string
  readonly interactiveMode: (typeof interactiveModes)[number]
  readonly installHint: string
  /** The cluster that is passed to the program. Default: the program does not learn the cluster. */
  readonly cluster?: Readonly<Record<string, unknown>>
  /** The folder of the configuration file, for resolving a relative path of the command. */
  readonly folder?: string
}

const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const

type Fields = Readonly<Record<string, unknown>>

/** Reads the `exec` of a user; `cluster` is the cluster's entry in the configuration. */
export function readExec(
  exec: Fields,
  user: string,
  { cluster, folder }: { readonly cluster: Fields; readonly folder: string | undefined },
): ExecConfiguration {
  const wrong = (field: string, what: string) => new ConfigurationError(`user ${user}: exec.${field} ${what}`)
  const { command, apiVersion, args, env, installHint, provideClusterInfo, interactiveMode } = exec
  if (typeof command !== 'string' || command === '') throw wrong('command', 'must be specified')
  const known = knownVersions().map(({ version }) => version)
  if (typeof apiVersion !== 'string' || apiVersion === '') throw wrong('apiVersion', 'must be specified')
  if (!known.includes(apiVersion)) throw wrong('apiVersion', `${apiVersion} is not known: must be one of ${known.join(', ')}`)
  const isFirst = apiVersion.endsWith('/v1')
  if (interactiveMode === undefined && isFirst)
    throw wrong('interactiveMode', `must be specified with ${apiVersion}: one of ${interactiveModes.join(', ')}`)
  const mode = interactiveModes.find((name) => name === (interactiveMode ?? 'IfAvailable'))
  if (mode === undefined) throw wrong('interactiveMode', `${String(interactiveMode)}: must be one of ${interactiveModes.join(', ')}`)
  if (args !== undefined && args !== null && !isTexts(args)) throw wrong('args', 'must be a list of strings')
  if (env !== undefined && env !== null && !isVariables(env)) throw wrong('env', 'must be a list of names and values')
  return {
    command,
    apiVersion,
    args: isTexts(args) ? args : [],
    env: isVariables(env) ? env : [],
    interactiveMode: mode,
    installHint: typeof installHint === 'string' ? installHint : '',
    ...(provideClusterInfo === true ? { cluster: clusterInfo(cluster, apiVersion) } : {}),
    ...(folder === undefined ? {} : { folder }),
  }
}

function isVariables(value: unknown): value is ExecConfiguration['env'] {
  return Array.isArray(value) && value.every((item) => typeof item?.name === 'string' && typeof item?.value === 'string')
}

/** Supported versions of the protocol, each with the names of its profile. */
function knownVersions(): { readonly version: string; readonly names: Names }[] {
  return profiles
    .map(namesOf)
    .flatMap((names) => ['v1', 'v1beta1'].map((version) => ({ version: `client.authentication.${names.apiDomain}/${version}`, names })))
}

function namesOfVersion(apiVersion: string): Names {
  return knownVersions().find(({ version }) => version === apiVersion)?.names ?? namesOf('orch')
}

/** The description of the server for a program. `config` is the cluster's extension under the name of the protocol. */
function clusterInfo(cluster: Fields, apiVersion: string): Record<string, unknown> {
  const name = `client.authentication.${namesOfVersion(apiVersion).apiDomain}/exec`
  const extensions: unknown[] = Array.isArray(cluster['extensions']) ? cluster['extensions'] : []
  const found = extensions.find(
    (entry): entry is Fields => typeof entry === 'object' && entry !== null && 'name' in entry && entry.name === name,
  )
  const fields = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'certificate-authority-data', 'proxy-url']
  const own = Object.fromEntries(fields.filter((field) => cluster[field] !== undefined).map((field) => [field, cluster[field]]))
  return { ...own, config: found?.['extension'] ?? null }
}

/** Runs the program each time a credential is needed. */
export class ExecPlugin implements CredentialSource {
  readonly #configuration: ExecConfiguration
  readonly #surroundings: CredentialSurroundings
  readonly #running = new Set<ChildProcess>()
  #hasHinted = false

  constructor(configuration: ExecConfiguration, surroundings: CredentialSurroundings) {
    this.#configuration = configuration
    this.#surroundings = surroundings
  }

  async obtain(): Promise<Credential> {
    const { command, apiVersion, interactiveMode } = this.#configuration
    const { isInteractive } = this.#surroundings
    if (interactiveMode === 'Always' && !isInteractive) {
      throw new ConfigurationError(`exec plugin ${command} cannot support interactive mode: standard input is not a terminal`)
    }
    const run = () => this.#run(interactiveMode !== 'Never' && isInteractive)
    const text = await (this.#surroundings.lendTerminal?.(run) ?? run())
    return readCredential(text, command, apiVersion)
  }

  close(): void {
    for (const child of this.#running) child.kill()
  }

  #run(isInteractive: boolean): Promise<string> {
    const { command, args, env, apiVersion, cluster, folder } = this.#configuration
    const info = { kind: 'ExecCredential', apiVersion, spec: { ...(cluster === undefined ? {} : { cluster }), interactive: isInteractive } }
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const environment = { ...this.#surroundings.env, ...own, [namesOfVersion(apiVersion).execInfoVariable]: JSON.stringify(info) }
    const isPath = command.includes('/') || command.includes(sep)
    const file = isPath && !isAbsolute(command) && folder !== undefined ? join(folder, command) : command
    return new Promise((resolve, reject) => {
      const child = spawn(file, args, { env: environment, stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'] })
      this.#running.add(child)
      const parts: Buffer[] = []
      child.stdout?.on('data', (part: Buffer) => parts.push(part))
      child.on('error', (error: NodeJS.ErrnoException) => {
        this.#running.delete(child)
        reject(this.#notStarted(error))
      })
      child.on('close', (code, signal) => {
        this.#running.delete(child)
        if (code === 0) return resolve(Buffer.concat(parts).toString())
        const how = signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`
        reject(new ConfigurationError(`getting credentials: exec: executable ${command} ${how}`))
      })
    })
  }

  #notStarted(error: NodeJS.ErrnoException): ConfigurationError {
    const { command, installHint } = this.#configuration
    if (error.code !== 'ENOENT') return new ConfigurationError(`getting credentials: exec: ${error.message}`, { cause: error })
    if (installHint !== '' && !this.#hasHinted) {
      this.#hasHinted = true
      this.#surroundings.say(`It looks like you are trying to use a client-go credential plugin that is not installed.\n\n${installHint}\n`)
    }
    return new ConfigurationError(`getting credentials: exec: executable ${command} not found`, { cause: error })
  }
}

function readCredential(text: string, command: string, apiVersion: string): Credential {
  const wrong = (what: string) => new ConfigurationError(`getting credentials: exec plugin ${command}: ${what}`)
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw wrong('its output is not JSON')
  }
  const { kind, apiVersion: version, status } = isJsonObject(answer) ? answer : {}
  if (kind !== 'ExecCredential') throw wrong('its output is not an ExecCredential')
  if (version !== apiVersion) throw wrong(`is configured to use API version ${apiVersion}, plugin returned version ${String(version)}`)
  if (!isJsonObject(status)) throw wrong("didn't return a status field")
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status
  const hasToken = typeof token === 'string' && token !== ''
  const certificate = typeof clientCertificateData === 'string' && clientCertificateData !== '' ? clientCertificateData : undefined
  const key = typeof clientKeyData === 'string' && clientKeyData !== '' ? clientKeyData : undefined
  if ((certificate === undefined) !== (key === undefined)) throw wrong('returned only certificate or key, not both')
  if (!hasToken && certificate === undefined) throw wrong("didn't return a token or cert/key pair")
  return {
    ...(hasToken ? { token } : {}),
    ...(certificate === undefined || key === undefined ? {} : { clientCertificate: certificate, clientKey: key }),
    ...(expirationTimestamp === undefined || expirationTimestamp === null ? {} : { expiresAtMs: readTime(expirationTimestamp, wrong) }),
  }
}

function readTime(value: unknown, wrong: (what: string) => Error): number {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value)
  const timeMs = isTime ? Date.parse(value) : Number.NaN
  if (Number.isNaN(timeMs)) throw wrong(`its expirationTimestamp ${JSON.stringify(value)} is not a time as RFC 3339 writes it`)
  return timeMs
}

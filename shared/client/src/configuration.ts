import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isJsonObject } from '@orch/core/json'
import { ConfigurationError } from './configuration-error.ts'
import { type ExecConfiguration, readExec } from './credentials/exec-plugin.ts'
import { type OidcLogin, readOidcLogin } from './credentials/oidc-login.ts'

export { ConfigurationError } from './configuration-error.ts'

/** The address of one server, and the client's identity. All certificates and keys are PEM. */
export interface ClientConfiguration {
  /** `https://127.0.0.1:6443`, with a path prefix if the server has one. */
  readonly server: string
  /** Default: the authorities of the machine, as in client-go, not Node's own. */
  readonly certificateAuthority?: string
  readonly clientCertificate?: string
  readonly clientKey?: string
  readonly token?: string
  /** A program that prints credentials, for `createTransport`. */
  readonly exec?: ExecConfiguration
  /** Tokens of an OpenID provider, for `createTransport`. */
  readonly oidc?: OidcLogin
  /** The name that the server's certificate must carry, if it differs from the host in `server`. */
  readonly serverName?: string
  /** True if the server's certificate is not checked. */
  readonly isInsecure?: boolean
  /** Namespace of the context. */
  readonly namespace?: string
}

/** The contents of a client configuration file. */
export interface PrintConfigurationOptions {
  /** Name of the cluster and of the context. */
  readonly cluster: string
  readonly user: string
  readonly configuration: ClientConfiguration
}

/** A configuration file in the usual form, with all certificates embedded. */
export function printConfiguration({ cluster, user, configuration }: PrintConfigurationOptions): string {
  const data = (name: string, pem: string | undefined) => (pem === undefined ? {} : { [name]: Buffer.from(pem).toString('base64') })
  const { server, serverName, certificateAuthority, clientCertificate, clientKey, token, namespace } = configuration
  const clusterFields = {
    ...data('certificate-authority-data', certificateAuthority),
    server,
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
  }
  const userFields = {
    ...data('client-certificate-data', clientCertificate),
    ...data('client-key-data', clientKey),
    ...(token === undefined ? {} : { token }),
  }
  const contextFields = { cluster, user, ...(namespace === undefined ? {} : { namespace }) }
  return [
    'apiVersion: v1',
    'kind: Config',
    `current-context: ${cluster}`,
    'clusters:',
    ...printEntry('cluster', cluster, clusterFields),
    'contexts:',
    ...printEntry('context', cluster, contextFields),
    'users:',
    ...printEntry('user', user, userFields),
    '',
  ].join('\n')
}

function printEntry(word: string, name: string, fields: Readonly<Record<string, string>>): string[] {
  return [`- name: ${name}`, `  ${word}:`, ...Object.entries(fields).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`)]
}

/** Reads a configuration file. Paths in the file are relative to its folder. */
export async function loadConfiguration(path: string, options: { context?: string } = {}): Promise<ClientConfiguration> {
  return parseConfiguration(readFileSync(path, 'utf8'), { ...options, folder: dirname(path), file: path })
}

/** The configuration that one context of a file describes. */
export async function parseConfiguration(
  text: string,
  options: { context?: string; folder?: string; file?: string } = {},
): Promise<ClientConfiguration> {
  const file = asMap(await readFields(text), 'the client configuration')
  const contextName = options.context ?? asText(file['current-context'])
  if (contextName === undefined) throw new ConfigurationError('the client configuration has no current-context')
  const context = entryOf(file, 'contexts', 'context', contextName)
  const cluster = entryOf(file, 'clusters', 'cluster', asText(context['cluster']) ?? '')
  const userName = asText(context['user'])
  const user = userName === undefined ? {} : entryOf(file, 'users', 'user', userName)
  if (user['username'] !== undefined) throw new ConfigurationError(`user ${userName}: username is not supported`)
  const server = asText(cluster['server'])
  if (server === undefined) throw new ConfigurationError(`cluster ${String(context['cluster'])} has no server`)
  const pem = (fields: Fields, name: string) => readData(fields, name, options.folder)
  return withoutAbsent({
    server,
    certificateAuthority: pem(cluster, 'certificate-authority'),
    clientCertificate: pem(user, 'client-certificate'),
    clientKey: pem(user, 'client-key'),
    token: asText(user['token']) ?? readFileField(user, 'tokenFile', options.folder)?.trim(),
    exec:
      user['exec'] === undefined
        ? undefined
        : readExec(asMap(user['exec'], `user ${userName}: exec`), userName ?? '', { cluster, folder: options.folder }),
    oidc: user['auth-provider'] === undefined ? undefined : readAuthProvider(user['auth-provider'], userName ?? '', options.file),
    serverName: asText(cluster['tls-server-name']),
    isInsecure: cluster['insecure-skip-tls-verify'] === true ? true : undefined,
    namespace: asText(context['namespace']),
  })
}

async function readFields(text: string): Promise<unknown> {
  const { readYaml, YamlError } = await import('@orch/core/yaml')
  try {
    return readYaml(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new ConfigurationError(`the client configuration is not YAML: ${error.message}`)
  }
}

function readAuthProvider(value: unknown, user: string, file: string | undefined): OidcLogin {
  const { name, config } = asMap(value, `user ${user}: auth-provider`)
  if (name !== 'oidc') throw new ConfigurationError(`user ${user}: the auth provider ${String(name)} is not supported: only oidc`)
  return readOidcLogin(
    asMap(config ?? {}, `user ${user}: auth-provider.config`),
    user,
    file === undefined ? {} : { keptIn: { file, user } },
  )
}

type Fields = Readonly<Record<string, unknown>>

function withoutAbsent(configuration: ClientConfiguration): ClientConfiguration {
  return Object.fromEntries(Object.entries(configuration).filter(([, value]) => value !== undefined)) as unknown as ClientConfiguration
}

function entryOf(file: Fields, listName: string, word: string, name: string): Fields {
  const entries: readonly unknown[] = Array.isArray(file[listName]) ? file[listName] : []
  const found = entries.filter(isJsonObject).find((entry) => entry['name'] === name)
  if (found === undefined) throw new ConfigurationError(`the client configuration has no ${word} named ${JSON.stringify(name)}`)
  return asMap(found[word] ?? {}, `${word} ${name}`)
}

function readData(fields: Fields, name: string, folder: string | undefined): string | undefined {
  const data = asText(fields[`${name}-data`])
  return data === undefined ? readFileField(fields, name, folder) : Buffer.from(data, 'base64').toString()
}

function readFileField(fields: Fields, name: string, folder: string | undefined): string | undefined {
  const path = asText(fields[name])
  if (path === undefined) return undefined
  try {
    return readFileSync(resolve(folder ?? '.', path), 'utf8')
  } catch (error) {
    throw new ConfigurationError(`${name}: ${path} cannot be read`, { cause: error })
  }
}

function asMap(value: unknown, what: string): Fields {
  if (!isJsonObject(value)) throw new ConfigurationError(`${what} must be a map`)
  return value
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

import { isJsonObject } from '@orch/core/json'
import type { Credential, WebhookCredentials } from '@orch/platform/webhooks'
import { ConfigurationError } from '../configuration.ts'

/** The text of a file named in an entry, relative to the client configuration file. */
export type ReadFile = (path: string) => string

type Fields = Readonly<Record<string, unknown>>

/** The users of a client configuration file. Clusters and contexts are ignored, except for the user of the current context. */
export function parseWebhookCredentials(document: unknown, readFile: ReadFile): WebhookCredentials {
  if (!isJsonObject(document)) throw new ConfigurationError('expected a client configuration')
  const users = new Map<string, Credential>()
  for (const [index, entry] of listOf(document, 'users').entries()) {
    const { name, user } = entry
    const place = `users[${index}]`
    if (typeof name !== 'string' || name === '') throw new ConfigurationError(`${place}.name: expected the name of a webhook's server`)
    if (users.has(name)) throw new ConfigurationError(`${place}.name: ${name}: there is an entry of that name already`)
    users.set(name, parseUser(user ?? {}, `${place}.user`, readFile))
  }
  const current = listOf(document, 'contexts').find(({ name }) => name === document['current-context'])?.['context']
  const user = isJsonObject(current) ? current['user'] : undefined
  return { users, current: typeof user === 'string' ? users.get(user) : undefined }
}

function listOf(document: Fields, field: string): readonly Fields[] {
  const list = document[field] ?? []
  if (!Array.isArray(list) || !list.every(isJsonObject)) throw new ConfigurationError(`${field}: expected a list of entries with names`)
  return list
}

const known = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
  'username',
  'password',
] as const

function parseUser(user: unknown, place: string, readFile: ReadFile): Credential {
  if (!isJsonObject(user)) throw new ConfigurationError(`${place}: expected credentials`)
  const texts: Partial<Record<(typeof known)[number], string>> = {}
  for (const [field, value] of Object.entries(user)) {
    const name = known.find((one) => one === field)
    if (name === undefined) {
      throw new ConfigurationError(`${place}.${field}: webhooks cannot be shown this; expected ${known.join(', ')}`)
    }
    if (typeof value !== 'string') throw new ConfigurationError(`${place}.${field}: expected a text`)
    texts[name] = value
  }
  const { token, tokenFile, username, password, ...rest } = texts
  const clientCertificate = pem(rest, 'client-certificate', readFile)
  const clientKey = pem(rest, 'client-key', readFile)
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    throw new ConfigurationError(`${place}: client-certificate and client-key belong together; expected both or none`)
  }
  return {
    token: token || (tokenFile ? readFile(tokenFile).trim() : undefined),
    username: username || undefined,
    password,
    clientCertificate,
    clientKey,
  }
}

function pem(user: Partial<Record<string, string>>, name: string, readFile: ReadFile): string | undefined {
  const data = user[`${name}-data`]
  if (data) return Buffer.from(data, 'base64').toString()
  const path = user[name]
  return path ? readFile(path) : undefined
}

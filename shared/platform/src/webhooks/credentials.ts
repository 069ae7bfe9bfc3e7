/** An entry of a client configuration file: the credentials for a server. */
export interface Credential {
  readonly token?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** PEM. */
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
}

/** The server's credentials for webhooks. */
export interface WebhookCredentials {
  /** Credentials by server name; `*` matches the first labels of a name. */
  readonly users: ReadonlyMap<string, Credential>
  /** The user of the file's current context, for servers without an entry. */
  readonly current: Credential | undefined
}

/** No credentials for webhooks. */
export const noCredentials: WebhookCredentials = { users: new Map(), current: undefined }

/** The credentials for a Service, by its name and by its port unless that is 443. */
export function serviceCredential(
  credentials: WebhookCredentials,
  { namespace, name, port }: { namespace: string; name: string; port: number },
): Credential {
  const host = `${name}.${namespace}.svc`
  return credentialFor(credentials, port === 443 ? host : `${host}:${port}`)
}

/**
 * The credentials for a server, by `host` or `host:port`. A more specific entry wins:
 *
 *   a.b.svc:8443   → a.b.svc:8443   *.b.svc:8443   *.svc:8443   *   the current context   noCredential
 *   a.b.c:443      → the same, and before `*`: a.b.c   *.b.c   *.c
 */
export function credentialFor({ users, current }: WebhookCredentials, target: string): Credential {
  const exact = findBySuffix(users, target)
  const withoutPort = target.endsWith(':443') ? findBySuffix(users, target.slice(0, -':443'.length)) : undefined
  return exact ?? withoutPort ?? users.get('*') ?? current ?? noCredential
}

const noCredential: Credential = {}

function findBySuffix(users: WebhookCredentials['users'], target: string): Credential | undefined {
  const exact = users.get(target)
  if (exact !== undefined) return exact
  const parts = target.split('.')
  for (let from = 1; from < parts.length; from += 1) {
    const found = users.get(`*.${parts.slice(from).join('.')}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Host and port as written in a URL; the URL parser would drop port 443. */
export function hostOf(url: string): string {
  return /^https:\/\/([^/]*)/i.exec(url)?.[1] ?? ''
}

/** The header for a credential. */
export function authorizationOf({ token, username, password }: Credential): { authorization?: string } {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` }
}

/** Shorter texts are no secrets, and would match in any text. */
const secretLengthMin = 8

/** The parts of a credential that must stay secret. */
export function secretsOf(credential: Credential): readonly string[] {
  const { token = '', password = '' } = credential
  const shown = authorizationOf(credential).authorization?.split(' ')[1] ?? ''
  return [token, shown, password].filter(({ length }) => length >= secretLengthMin)
}

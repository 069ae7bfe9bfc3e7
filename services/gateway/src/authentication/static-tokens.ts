import { hash } from 'node:crypto'
import type { User } from '@orch/core/contracts'
import { type Authentication, none, type TokenAuthenticator } from './authenticator.ts'

/** The content of a token file. */
export interface StaticTokens {
  /** By the hash of the token, so that the time of a lookup reveals nothing about a token. */
  readonly users: ReadonlyMap<string, User>
  /** Problems of lines, for the log. */
  readonly warnings: readonly string[]
}

/**
 * The rows of a token file. A row that cannot be used is an error that names its line, never its content. As in kube-apiserver, a row without
 * a token is left out, and the last of equal tokens applies; a warning names the line.
 *
 *   token,name,uid                     t0ken,jane,17
 *   token,name,uid,"group,group"       t0ken,jane,17,"dev,ops"
 */
export function parseStaticTokens(text: string): StaticTokens {
  const users = new Map<string, User>()
  const warnings: string[] = []
  for (const { line, fields } of parseRows(text)) {
    const [token = '', name = '', uid = '', groups = '', ...further] = fields.map((field) => field.trim())
    if (fields.length < 3) throw new Error(`line ${line}: must have at least three columns: token, user name, user uid`)
    if (token === '') {
      warnings.push(`line ${line}: the token is empty, so the line is ignored`)
      continue
    }
    if (name === '') throw new Error(`line ${line}: the user name is empty`)
    if (users.has(idOf(token))) warnings.push(`line ${line}: an earlier line has the same token and is ignored`)
    users.set(idOf(token), { name, uid, groups: [groups, ...further].flatMap(groupsOf), extra: {} })
  }
  return { users, warnings }
}

/** Tokens from a file, which are valid until the server ends. */
export function createStaticTokenAuthenticator({ users }: StaticTokens): TokenAuthenticator {
  const answers = new Map(
    [...users].map(([id, user]): [string, Authentication] => [id, { kind: 'user', user, method: 'token of the file' }]),
  )
  return { name: 'token file', authenticate: (token) => answers.get(idOf(token)) ?? none }
}

function idOf(token: string): string {
  return hash('sha256', token, 'base64')
}

function groupsOf(text: string): string[] {
  return text
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '')
}

/** Rows of comma-separated values. A quoted field may contain commas, line breaks and, doubled, quotes. */
function* parseRows(text: string): Generator<{ readonly line: number; readonly fields: readonly string[] }> {
  const field = /"((?:[^"]|"")*)"(?=,|\r?\n|$)|([^",\r\n]*)(?=,|\r?\n|$)/y
  let line = 1
  for (let at = 0; at < text.length; ) {
    const fields: string[] = []
    const first = line
    for (let isMore = true; isMore; ) {
      field.lastIndex = at
      const match = field.exec(text)
      if (match === null) throw new Error(`line ${line}: must be comma separated values; a quote stands where none is expected`)
      fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
      line += match[0].split('\n').length - 1
      at = field.lastIndex
      isMore = text[at] === ','
      if (isMore) at += 1
    }
    if (text[at] === '\r') at += 1
    if (text[at] === '\n') at += 1
    line += 1
    const isEmpty = fields.length === 1 && fields[0]?.trim() === ''
    if (!isEmpty) yield { line: first, fields }
  }
}

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Clock, type Log, messageOf } from '@orch/platform'
import { type Authorities, type AuthoritySource, splitPem } from './authorities.ts'

/** Where authorities of certificates are found; '' where there are none. */
export interface AuthorityFiles {
  readonly clientFile: string
  readonly proxyFile: string
  /** PEM; of clients too, and never changes: the server's own authority. */
  readonly ownClients: string
  readonly clock: Clock
  readonly log: Log
}

/** Follows its files until it is closed. */
export interface OpenAuthorities extends AuthoritySource {
  close(): void
}

/** How often the files are looked at. Reading two small files costs microseconds; authorities change in months. */
const pollMs = 5_000

/** Reads the files, and reads them again when they change. What can't be used at the start throws; later, it never replaces what can. */
export function openAuthorityFiles(files: AuthorityFiles): OpenAuthorities {
  const { clock, log } = files
  let current = readAuthorities(files)
  let complained = ''
  const listeners = new Set<(authorities: Authorities) => void>()
  const poll = clock.every(pollMs, () => {
    try {
      const read = readAuthorities(files)
      complained = ''
      if (read.clients === current.clients && read.proxies === current.proxies) return
      current = read
      log.info({}, 'new authorities of client certificates are in use')
      for (const listener of listeners) listener(read)
    } catch (error) {
      const message = messageOf(error)
      if (message !== complained) log.error({ err: error }, 'the new authorities cannot be used; the old ones stay in use')
      complained = message
    }
  })
  return {
    get current() {
      return current
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => poll.cancel(),
  }
}

function readAuthorities({ clientFile, proxyFile, ownClients }: AuthorityFiles): Authorities {
  return { clients: inLines(splitPem(ownClients)) + readBundle(clientFile), proxies: readBundle(proxyFile) }
}

function readBundle(path: string): string {
  if (path === '') return ''
  const pem = readFileSync(path, 'utf8')
  const certificates = splitPem(pem)
  if (certificates.length === 0) throw new Error(`${path}: expected certificates in PEM form`)
  for (const text of certificates) {
    try {
      new X509Certificate(text)
    } catch (error) {
      throw new Error(`${path}: one of its certificates cannot be read`, { cause: error })
    }
  }
  return inLines(certificates)
}

/** Each ends its line: readers of files in PEM form put them together as they are. */
function inLines(certificates: readonly string[]): string {
  return certificates.map((text) => `${text}\n`).join('')
}

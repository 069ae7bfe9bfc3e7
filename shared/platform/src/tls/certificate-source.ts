import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { messageOf, systemCodeOf } from '../error-message.ts'
import { Listeners } from '../listeners.ts'
import type { Log } from '../log.ts'
import type { KeyPair } from './key-pair.ts'

/** The files of a certificate and its key, in PEM. */
export interface PairFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

/** The files of a service's own certificate and of the authorities that it trusts. */
export interface TlsFiles extends PairFiles {
  /** Certificates of the trusted authorities. */
  readonly authorityFile: string
}

/** The texts of the files, read together. */
export interface TlsTexts extends KeyPair {
  readonly authority: string
}

/** Certificates that are reloaded when their files change, until the source is closed. */
export interface CertificateSource {
  readonly current: TlsTexts
  /** Called whenever the files contain new valid certificates; the returned function removes the listener. */
  listen(listener: (texts: TlsTexts) => void): () => void
  close(): void
}

/** The files of certificates, and the clock and log for reading them. */
export interface CertificateSourceOptions {
  readonly files: TlsFiles
  readonly clock: Clock
  readonly log: Log
}

/** Interval for checking the files. Reading three small files takes microseconds, and certificates change rarely. */
const pollMs = 5_000

/** Reads certificates, and reloads them when they change. A bad certificate never replaces a good one. */
export function openCertificateSource({ files, clock, log }: CertificateSourceOptions): CertificateSource {
  return followTexts<TlsTexts>({ read: () => readTexts(files), certificateFile: files.certificateFile, clock, log })
}

/** A certificate and its key that are reloaded when their files change, until the source is closed. */
export interface PairSource {
  readonly current: KeyPair
  /** Like `listen` of `CertificateSource`. */
  listen(listener: (pair: KeyPair) => void): () => void
  close(): void
}

/** Like `openCertificateSource`, for a certificate without authorities. */
export function openPairSource({ files, clock, log }: Omit<CertificateSourceOptions, 'files'> & { readonly files: PairFiles }): PairSource {
  return followTexts<KeyPair>({ read: () => readPair(files), certificateFile: files.certificateFile, clock, log })
}

/** A pair that never changes. */
export function fixedPair(pair: KeyPair): PairSource {
  return { current: pair, listen: () => () => {}, close: () => {} }
}

interface Followed<T> {
  read(): T
  /** The file's name for the log. */
  readonly certificateFile: string
  readonly clock: Clock
  readonly log: Log
}

function followTexts<T extends object>({ read, certificateFile, clock, log }: Followed<T>) {
  let current = read()
  let complained = ''
  const listeners = new Listeners<T>()
  const poll = clock.every(pollMs, () => {
    try {
      const texts = read()
      complained = ''
      if (isSame(texts, current)) return
      current = texts
      log.info({ certificateFile }, 'new certificates are in use')
      listeners.call(texts)
    } catch (error) {
      const message = messageOf(error)
      if (message !== complained) log.error({ err: error }, 'the new certificates cannot be used; the old ones stay in use')
      complained = message
    }
  })
  return {
    get current() {
      return current
    },
    listen: (listener: (texts: T) => void) => listeners.add(listener),
    close: () => poll.cancel(),
  }
}

function isSame<T extends object>(one: T, other: T): boolean {
  return Object.entries(one).every(([name, text]) => text === other[name as keyof T])
}

function readTexts(files: TlsFiles): TlsTexts {
  const texts = { ...readPair(files), authority: read(files.authorityFile) }
  understand(files.authorityFile, 'certificates in PEM form', () => new X509Certificate(texts.authority))
  return texts
}

function readPair({ certificateFile, keyFile }: PairFiles): KeyPair {
  const pair = { certificate: read(certificateFile), key: read(keyFile) }
  const certificate = understand(certificateFile, 'a certificate in PEM form', () => new X509Certificate(pair.certificate))
  const key = understand(keyFile, 'a private key in PEM form', () => createPrivateKey(pair.key))
  if (!certificate.checkPrivateKey(key)) throw new Error(`${keyFile}: this is not the key of the certificate in ${certificateFile}`)
  return pair
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path}: cannot be read (${systemCodeOf(error) ?? 'unknown error'})`, { cause: error })
  }
}

function understand<T>(path: string, expected: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${path}: expected ${expected}`, { cause: error })
  }
}

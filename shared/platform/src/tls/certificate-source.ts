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
  /** Certificates of the authorities whose signature is good. */
  readonly authorityFile: string
}

/** The texts of the files at one time; they belong together. */
export interface TlsTexts extends KeyPair {
  readonly authority: string
}

/** Certificates that follow their files until the source is closed. */
export interface CertificateSource {
  readonly current: TlsTexts
  /** Called whenever other good certificates are in the files; the function that it returns ends that. */
  listen(listener: (texts: TlsTexts) => void): () => void
  close(): void
}

/** Files, and how they are looked at. */
export interface CertificateSourceOptions {
  readonly files: TlsFiles
  readonly clock: Clock
  readonly log: Log
}

/** Interval of looks at the files. Reading three small files costs microseconds; certificates change in days. */
const pollMs = 5_000

/** Reads certificates, and reads them again when they change. An unusable one never replaces a usable one. */
export function openCertificateSource({ files, clock, log }: CertificateSourceOptions): CertificateSource {
  return followTexts<TlsTexts>({ read: () => readTexts(files), certificateFile: files.certificateFile, clock, log })
}

/** A certificate and its key that follow their files until the source is closed. */
export interface PairSource {
  readonly current: KeyPair
  /** As that of `CertificateSource`. */
  listen(listener: (pair: KeyPair) => void): () => void
  close(): void
}

/** Like `openCertificateSource`, for the own certificate alone. */
export function openPairSource({ files, clock, log }: Omit<CertificateSourceOptions, 'files'> & { readonly files: PairFiles }): PairSource {
  return followTexts<KeyPair>({ read: () => readPair(files), certificateFile: files.certificateFile, clock, log })
}

/** A certificate that never changes. */
export function fixedPair(pair: KeyPair): PairSource {
  return { current: pair, listen: () => () => {}, close: () => {} }
}

interface Followed<T> {
  read(): T
  /** For the log. */
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

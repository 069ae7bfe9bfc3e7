import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'

/** Where a service finds what it shows to the others and what it knows them by: PEM files. */
export interface TlsFiles {
  readonly certificateFile: string
  readonly keyFile: string
  /** Certificates of the authorities whose signature is good. */
  readonly authorityFile: string
}

/** The texts of the files at one time; they belong together. */
export interface TlsTexts {
  readonly certificate: string
  readonly key: string
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

/** How often the files are looked at. Reading three small files costs microseconds; certificates change in days. */
const pollMs = 5_000

/** Reads certificates, and reads them again when they change. What can't be used never replaces what can. */
export function openCertificateSource({ files, clock, log }: CertificateSourceOptions): CertificateSource {
  let current = readTexts(files)
  let complained = ''
  const listeners = new Set<(texts: TlsTexts) => void>()
  const poll = clock.every(pollMs, () => {
    try {
      const texts = readTexts(files)
      complained = ''
      if (isSame(texts, current)) return
      current = texts
      log.info({ certificateFile: files.certificateFile }, 'new certificates are in use')
      for (const listener of listeners) listener(texts)
    } catch (error) {
      const { message } = error as Error
      if (message !== complained) log.error({ err: error }, 'the new certificates cannot be used, the old ones stay')
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

function isSame(one: TlsTexts, other: TlsTexts): boolean {
  return one.certificate === other.certificate && one.key === other.key && one.authority === other.authority
}

function readTexts({ certificateFile, keyFile, authorityFile }: TlsFiles): TlsTexts {
  const texts = { certificate: read(certificateFile), key: read(keyFile), authority: read(authorityFile) }
  const certificate = understand(certificateFile, 'a certificate in PEM form', () => new X509Certificate(texts.certificate))
  const key = understand(keyFile, 'a private key in PEM form', () => createPrivateKey(texts.key))
  understand(authorityFile, 'certificates in PEM form', () => new X509Certificate(texts.authority))
  if (!certificate.checkPrivateKey(key)) throw new Error(`${keyFile}: this is not the key of the certificate in ${certificateFile}`)
  return texts
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`, { cause: error })
  }
}

function understand<T>(path: string, expected: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${path}: expected ${expected}`, { cause: error })
  }
}

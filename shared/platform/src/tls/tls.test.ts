import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namesOf } from '@orch/core/names'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Clock } from '../clock.ts'
import { administratorOf, clientIssuer, readCertificates } from './certificates.ts'
import { certificateFolder, certificateMemory, makePrivateFolder, requireAppendable, writePrivateFile } from './files.ts'
import { generateKeysNow } from './keys.ts'
import { servingNames } from './serving-names.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
const clockAt = (nowMs: number): Clock => ({
  now: () => nowMs,
  monotonic: () => 0,
  after: () => ({ cancel() {} }),
  every: () => ({ cancel() {} }),
})
const options = { product: 'orch', names: ['localhost', '127.0.0.1', '::1'], clock: clockAt(startMs) }

test('the first start creates an authority, and a serving and an administrator certificate that it signed', async () => {
  const { authority, serving, admin, issued } = await readCertificates({ ...options, files: certificateMemory() })
  const root = new X509Certificate(authority)
  const server = new X509Certificate(serving.certificate)
  const client = new X509Certificate(admin.certificate)
  expect(issued).toEqual(['ca', 'serving', 'admin'])
  expect([server.verify(root.publicKey), client.verify(root.publicKey), root.ca, server.ca]).toEqual([true, true, true, false])
  expect(server.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1')
  expect(client.subject).toBe('O=system:masters\nCN=orch-admin')
  expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  expect(root.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
})

test('an administrator may have an RSA key, in a format that every client reads, which replaces a stored key of another type', async () => {
  const files = certificateMemory()
  const first = await readCertificates({ ...options, files })
  expect(first.admin.key).toMatch(/^-----BEGIN EC PRIVATE KEY-----/)
  const second = await readCertificates({ ...options, files, adminKey: 'RSA' })
  expect(second.issued).toEqual(['admin'])
  expect(second.admin.key).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/)
  const certificate = new X509Certificate(second.admin.certificate)
  expect(certificate.checkPrivateKey(createPrivateKey(second.admin.key))).toBe(true)
  expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
  expect(certificate.verify(new X509Certificate(second.authority).publicKey)).toBe(true)
  expect(await readCertificates({ ...options, files, adminKey: 'RSA' })).toEqual({ ...second, issued: [] })
})

test('the certificate of a client is created for given keys of either type', async () => {
  const files = certificateMemory()
  await expect(clientIssuer({ ...options, files })).rejects.toThrow('has not been made')
  const { authority } = await readCertificates({ ...options, files })
  const issue = await clientIssuer({ ...options, files })
  for (const kind of ['RSA', 'P-256'] as const) {
    const keys = generateKeysNow(kind)
    const { certificate, key } = issue(administratorOf('orch'), keys)
    const made = new X509Certificate(certificate)
    expect([made.subject, made.verify(new X509Certificate(authority).publicKey)]).toEqual(['O=system:masters\nCN=orch-admin', true])
    expect(createPrivateKey(key).equals(keys.privateKey)).toBe(true)
  }
})

test('a second start uses the stored certificates', async () => {
  const files = certificateMemory()
  const first = await readCertificates({ ...options, files })
  expect(await readCertificates({ ...options, files })).toEqual({ ...first, issued: [] })
})

test('a missing name renews only the serving certificate', async () => {
  const files = certificateMemory()
  await readCertificates({ ...options, files })
  const { issued, serving } = await readCertificates({ ...options, files, names: [...options.names, 'api.example.com'] })
  expect(issued).toEqual(['serving'])
  expect(new X509Certificate(serving.certificate).checkHost('api.example.com')).toBe('api.example.com')
})

test('certificates are renewed in the last third of their life', async () => {
  const files = certificateMemory()
  await readCertificates({ ...options, files })
  expect((await readCertificates({ ...options, files, clock: clockAt(startMs + 240 * dayMs) })).issued).toEqual([])
  expect((await readCertificates({ ...options, files, clock: clockAt(startMs + 250 * dayMs) })).issued).toEqual(['serving', 'admin'])
  expect((await readCertificates({ ...options, files, clock: clockAt(startMs + 3_000 * dayMs) })).issued).toEqual([
    'ca',
    'serving',
    'admin',
  ])
})

test('a damaged certificate is created again', async () => {
  const files = certificateMemory()
  await readCertificates({ ...options, files })
  files.write('admin.crt', 'nonsense')
  expect((await readCertificates({ ...options, files })).issued).toEqual(['admin'])
})

test.each(['ca', 'serving', 'admin'] as const)('a certificate whose key is damaged is created again: %s', async (name) => {
  const files = certificateMemory()
  await readCertificates({ ...options, files })
  files.write(`${name}.key`, 'nonsense')
  expect((await readCertificates({ ...options, files })).issued).toContain(name)
})

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a missing folder of certificates is made when the first is written', () => {
  const folder = join(aFolder(), 'not', 'there')
  const files = certificateFolder(folder)
  expect(files.read('serving.crt')).toBeUndefined()
  files.write('serving.crt', 'text')
  expect(files.read('serving.crt')).toBe('text')
})

test('certificates may be in a folder of another user, such as /tmp', () => {
  const folder = aFolder()
  const effective = vi.spyOn(process, 'geteuid').mockReturnValue(statSync(folder).uid + 1)
  onTestFinished(() => effective.mockRestore())
  const files = certificateFolder(folder)
  files.write('serving.crt', 'text')
  expect(files.read('serving.crt')).toBe('text')
})

test('a system error is a sentence that names the file, and leaves no temporary file', () => {
  const folder = aFolder()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  mkdirSync(join(folder, 'taken'))
  expect(() => writePrivateFile(join(folder, 'taken'), 'text')).toThrow(
    `the file ${join(folder, 'taken')} cannot be written: illegal operation on a directory (EISDIR)`,
  )
  expect(() => certificateFolder(folder).read('taken')).toThrow(`the file ${join(folder, 'taken')} cannot be read: `)
  expect(() => makePrivateFolder(file)).toThrow(`${file} is a file, expected a folder`)
  expect(() => makePrivateFolder(join(file, 'below'))).toThrow(
    `the folder ${join(file, 'below')} cannot be made: not a directory (ENOTDIR)`,
  )
  expect(readdirSync(folder).sort()).toEqual(['file', 'taken'])
})

test.skipIf(process.platform !== 'linux')('a folder that cannot be created is refused', () => {
  expect(() => makePrivateFolder('/proc/none')).toThrow('the folder /proc/none cannot be made: no such file or directory (ENOENT)')
  expect(() => makePrivateFolder('/proc/none/below')).toThrow('the folder /proc/none/below cannot be made')
})

test('a folder of another user is reported as such', () => {
  const folder = aFolder()
  const { uid } = statSync(folder)
  const effective = vi.spyOn(process, 'geteuid').mockReturnValue(uid + 1)
  onTestFinished(() => effective.mockRestore())
  expect(() => makePrivateFolder(folder)).toThrow(`the folder ${folder} belongs to another user (uid ${uid}, this process has ${uid + 1})`)
})

test('an append-only file is created with its folders, or refused before any folder is created', () => {
  const folder = aFolder()
  const path = join(folder, 'a', 'audit.log')
  requireAppendable(path)
  writeFileSync(path, 'kept')
  requireAppendable(path)
  expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([0o600, 'kept'])
  expect(() => requireAppendable(folder)).toThrow(`the file ${folder} cannot be written: illegal operation on a directory (EISDIR)`)
  expect(() => requireAppendable(join(path, 'below'))).toThrow(
    `the file ${join(path, 'below')} cannot be written: not a directory (ENOTDIR)`,
  )
})

test('the parents of a private folder are created with it', () => {
  const path = join(aFolder(), 'a', 'b', 'c')
  makePrivateFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  makePrivateFolder(path)
})

test('an existing folder keeps its mode', () => {
  const path = aFolder()
  chmodSync(path, 0o755)
  expect(makePrivateFolder(path)).toBe(0o755)
  expect(statSync(path).mode & 0o777).toBe(0o755)
})

test('only the owner can access the folder and the files', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'certificates-')), 'data')
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true }))
  makePrivateFolder(folder)
  await readCertificates({ ...options, files: certificateFolder(folder) })
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder).sort()).toEqual(['admin.crt', 'admin.key', 'ca.crt', 'ca.key', 'serving.crt', 'serving.key'])
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
})

test('the serving certificate has the names of the server outside and inside the cluster', () => {
  const names = servingNames({ names: namesOf('orch'), hostName: 'box', bindAddress: '0.0.0.0', serviceAddress: '10.0.0.1' })
  expect(names).toEqual([
    'localhost',
    'box',
    '127.0.0.1',
    '::1',
    'orch',
    'orch.default',
    'orch.default.svc',
    'orch.default.svc.cluster.local',
    '10.0.0.1',
  ])
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, createHttpsTransport, loadConfiguration } from '@orch/client'
import { certificateMemory, readCertificates, systemClock } from '@orch/platform'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { type ServerProcess, startProcess } from './server-process.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }

/** Files with certificates of an authority that the server does not know. */
async function otherCertificates() {
  const folder = aFolder()
  const other = await readCertificates({ files: certificateMemory(), product: 'other', names: ['api.example.com'], clock: systemClock })
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  return {
    ...other,
    authorityFile: file('ca.crt', other.authority),
    servingFile: file('serving.crt', `${other.serving.certificate}\n${other.authority}`),
    servingKeyFile: file('serving.key', other.serving.key),
  }
}

async function listAs({ dataDir }: ServerProcess, pair: { certificate: string; key: string }): Promise<number> {
  const configuration = await loadConfiguration(join(dataDir, 'admin.conf'))
  const client = createClient(createHttpsTransport({ ...configuration, clientCertificate: pair.certificate, clientKey: pair.key }))
  onTestFinished(() => client.close())
  return client
    .resource(namespaces)
    .list()
    .then(
      () => 200,
      (error: { code: number }) => error.code,
    )
}

test('AUTHN-CERT-01, AUTHN-CERT-04: client certificates of other authorities are accepted while --client-ca-file names them, and a second start keeps the certificates of the first', async () => {
  const other = await otherCertificates()
  const open = await startProcess(['--memory', `--client-ca-file=${other.authorityFile}`])
  expect(await listAs(open, other.admin)).toBe(200)
  expect((await open.client.resource(namespaces).list()).items).toHaveLength(4)
  const serving = () => readFileSync(join(open.dataDir, 'serving.crt'), 'utf8')
  const kept = serving()
  await open.stop()
  const closed = await startProcess(['--memory'], { dataDir: open.dataDir })
  expect(serving()).toBe(kept)
  expect(await listAs(closed, other.admin)).toBe(401)
  expect((await closed.client.resource(namespaces).list()).items).toHaveLength(4)
})

test('FLAG-05: a given certificate is served, and the client configuration uses its name', async () => {
  const { servingFile, servingKeyFile } = await otherCertificates()
  const server = await startProcess(['--memory', `--tls-cert-file=${servingFile}`, `--tls-private-key-file=${servingKeyFile}`])
  expect(await loadConfiguration(join(server.dataDir, 'admin.conf'))).toMatchObject({ serverName: 'api.example.com' })
  expect((await server.client.resource(namespaces).list()).items).toHaveLength(4)
})

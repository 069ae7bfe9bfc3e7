import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultPluginSettings } from '@orch/admission'
import { printConfiguration } from '@orch/client'
import { namesOf } from '@orch/core/names'
import {
  certificateFolder,
  certificateMemory,
  keepServiceCertificates,
  printSettingsPage,
  readCertificates,
  silentLog,
  systemChance,
  systemClock,
} from '@orch/platform'
import { createMemoryStore } from '@orch/storage'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everythingServed } from '../api/settings.ts'
import { printCommandHelp, runCommand, serverCommands } from '../command-line.ts'
import { catalogueOf } from '../surroundings.ts'
import { openAdmissionReplica } from './admission.ts'
import { openStorageReplica } from './storage.ts'
import { openWatchReplica } from './watch.ts'

async function run(...args: string[]) {
  const printed = { out: '', error: '' }
  const code = await runCommand({
    arguments: args,
    env: {},
    workingFolder: aFolder(),
    out(text) {
      printed.out += text
    },
    error(text) {
      printed.error += text
    },
  })
  return { code, ...printed }
}

const services = Object.keys(serverCommands).filter((name) => name !== 'up')

test.each(services)('CARD-23: %s has its own flags, and a page that shows them', async (name) => {
  const command = serverCommands[name]!
  expect(await run('help', name)).toEqual({ code: 0, out: await printCommandHelp(name), error: '' })
  const page = printSettingsPage(await command.settings(), `Settings of orch ${name}`)
  await expect(page).toMatchFileSnapshot(`../../../../docs/reference/settings-${name}.md`)
})

describe('impossible settings are refused with a sentence', () => {
  const storage = ['--storage-address=127.0.0.1:1']
  const cases: [string, string[], string][] = [
    ['a storage without a place for its state', ['storage'], '--etcd-servers or --data-dir is needed, and only one of them'],
    ['a storage with two', ['storage', '--data-dir=x', '--etcd-servers=http://127.0.0.1:1'], 'only one of them'],
    ['an etcd that is no address', ['storage', '--etcd-servers=127.0.0.1:1'], '--etcd-servers=127.0.0.1:1: must be an address such as'],
    ['a user without a password', ['storage', '--etcd-servers=http://127.0.0.1:1', '--etcd-username=a'], 'go together'],
    [
      'half a pair for etcd',
      ['storage', '--etcd-servers=http://127.0.0.1:1', '--etcd-certfile=a'],
      '--etcd-certfile and --etcd-keyfile go together',
    ],
    ['a watch without storage', ['watch'], '--storage-address is needed'],
    ['an address that is none', ['watch', '--storage-address=storage'], '--storage-address=storage: must be host:port or dns:///name:port'],
    ['a place to listen at that is none', ['watch', ...storage, '--listen=7200'], '--listen=7200: must be a host and a port'],
    ['a NATS that is no address', ['watch', ...storage, '--nats-servers=nats://a:1'], '--nats-servers=nats://a:1: must be host:port'],
    ['half of what services show one another', ['admission', ...storage, '--service-key=a'], '--service-certificate is missing'],
    [
      'an address beyond this machine without encryption',
      ['admission', '--storage-address=dns:///storage.example:7100'],
      '--storage-address=dns:///storage.example:7100: what leaves this machine must be encrypted: give --service-certificate',
    ],
    [
      'a NATS beyond this machine without encryption',
      ['watch', ...storage, '--nats-servers=10.0.0.1:4222'],
      '--nats-servers=10.0.0.1:4222: what leaves this machine must be encrypted: give --nats-cafile',
    ],
    ['a gateway without a certificate', ['gateway', ...storage], '--tls-cert-file and --tls-private-key-file are needed'],
    ['controllers without a configuration', ['controllers'], '--kubeconfig is needed'],
    ['a configuration that is not there', ['controllers', '--kubeconfig=/none'], '--kubeconfig=/none: '],
    ['nodes without a configuration', ['nodes'], '--kubeconfig is needed'],
    ['no nodes', ['nodes', '--kubeconfig=/none', '--simulated-nodes=0'], '--simulated-nodes=0: must be from 1 to 1000'],
    ['backends without a folder', ['backends'], '--data-dir is needed'],
  ]
  test.each(cases)('%s', async (_, args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, out: '', error: expect.stringContaining(message) })
  })
})

test('CARD-13: a certificate is shown with its own key and for its own role, or the process does not start', async () => {
  const folder = aFolder()
  const hostNames = ['localhost', '127.0.0.1']
  await keepServiceCertificates({ files: certificateFolder(folder), names: namesOf('orch'), hostNames, clock: systemClock })
  const at = (name: string) => join(folder, name)
  const shown = (role: string, key = role) => [
    `--service-certificate=${at(`${role}.crt`)}`,
    `--service-key=${at(`${key}.key`)}`,
    `--service-ca=${at('ca.crt')}`,
  ]
  const storage = '--storage-address=127.0.0.1:1'
  const nats = ['--nats-servers=127.0.0.1:1', `--nats-certfile=${at('watch.crt')}`, `--nats-keyfile=${at('nats.key')}`]
  const etcd = ['--etcd-servers=https://127.0.0.1:1', `--etcd-certfile=${at('storage.crt')}`, `--etcd-keyfile=${at('etcd.key')}`]
  const cases: [string[], string][] = [
    [['watch', storage, ...shown('watch', 'storage')], `--service-key=${at('storage.key')}: this is not the key of the certificate in`],
    [
      ['watch', storage, ...shown('storage')],
      `--service-certificate=${at('storage.crt')}: the certificate is for the role storage, expected watch`,
    ],
    [
      ['admission', storage, ...shown('nats')],
      `--service-certificate=${at('nats.crt')}: the certificate names no role, expected admission`,
    ],
    [['watch', storage, ...nats], `--nats-keyfile=${at('nats.key')}: this is not the key of the certificate in --nats-certfile`],
    [['storage', ...etcd], `--etcd-keyfile=${at('etcd.key')}: this is not the key of the certificate in --etcd-certfile`],
    [
      ['storage', '--data-dir=x', ...shown('storage').with(1, `--service-key=${at('ca.crt')}`)],
      'the file holds no private key in PEM form',
    ],
  ]
  for (const [args, message] of cases)
    expect(await run(...args)).toMatchObject({ code: 2, out: '', error: expect.stringContaining(message) })
})

test('AUTHN-SA-09, FLAG-04: separate services get the key of tokens, which differs from the key of the port', async () => {
  const folder = aFolder()
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const made = await readCertificates({ files: certificateMemory(), product: 'a', names: ['localhost'], clock: systemClock })
  const { certificate, key } = made.serving
  const serving = [`--tls-cert-file=${file('a.crt', certificate)}`, `--tls-private-key-file=${file('a.key', key)}`]
  const kubeconfig = `--kubeconfig=${file('a.conf', printConfiguration({ cluster: 'a', user: 'a', configuration: { server: 'https://127.0.0.1:1' } }))}`
  const keyFlag = '--service-account-private-key-file'
  const cases: [string[], string][] = [
    [['gateway', ...serving], '--service-account-signing-key-file is needed'],
    [['gateway', ...serving, `--service-account-signing-key-file=${join(folder, 'a.crt')}`], 'it holds no private key in PEM form'],
    [['controllers', kubeconfig, '--controllers=serviceaccount-token'], `--controllers=serviceaccount-token needs ${keyFlag}`],
    [['controllers', kubeconfig, `--root-ca-file=${join(folder, 'a.crt')}`], '--root-ca-file has no effect without'],
    [['controllers', kubeconfig, `${keyFlag}=${join(folder, 'a.crt')}`], 'it holds no private key in PEM form'],
    [['controllers', kubeconfig, `${keyFlag}=${join(folder, 'a.key')}`, '--root-ca-file=/none'], '--root-ca-file=/none: '],
  ]
  for (const [args, message] of cases)
    expect(await run(...args)).toMatchObject({ code: 2, out: '', error: expect.stringContaining(message) })
})

test('WL-CSR-02: separate controllers sign with the key of an authority, and csrsigning needs an authority', async () => {
  const folder = aFolder()
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const { authority, serving } = await readCertificates({ files: certificateMemory(), product: 'a', names: ['a'], clock: systemClock })
  const configuration = printConfiguration({ cluster: 'a', user: 'a', configuration: { server: 'https://127.0.0.1:1' } })
  const controllers = ['controllers', `--kubeconfig=${file('a.conf', configuration)}`]
  const [certFlag, keyFlag] = ['--cluster-signing-cert-file', '--cluster-signing-key-file']
  const [cert, key] = [`${certFlag}=${file('a.crt', serving.certificate)}`, `${keyFlag}=${file('a.key', serving.key)}`]
  const cases: [string[], string][] = [
    [['--controllers=csrsigning'], `--controllers=csrsigning needs ${certFlag}`],
    [[cert], `${certFlag} needs ${keyFlag}`],
    [[cert, key], 'the certificate is not one of an authority'],
    [[`${certFlag}=${file('ca.crt', authority)}`, key], 'this is not the key of the certificate'],
  ]
  for (const [args, message] of cases)
    expect(await run(...controllers, ...args)).toMatchObject({ code: 2, out: '', error: expect.stringContaining(message) })
})

const clockAndLog = { clock: systemClock, chance: systemChance, log: silentLog }
const trust = { tls: undefined, insecureTransport: false }
const shared = { trust, hasProcessMetrics: false, listen: '127.0.0.1:0', changeStream: undefined }
const worldOf = (profile: 'orch' | 'kubernetes') => ({ ...clockAndLog, catalogue: catalogueOf(everythingServed(profile)) })

test('services of different profiles refuse one another, and name both', async () => {
  const storage = await openStorageReplica({ ...shared, store: createMemoryStore(), watchHistoryMs: 60_000 }, worldOf('orch'))
  onTestFinished(() => storage.stop())
  const options = { ...shared, storageAddresses: [storage.address] }
  const message = 'storage has the profile orch and this process the profile kubernetes'
  await expect(openWatchReplica(options, worldOf('kubernetes'))).rejects.toThrow(message)
  const admission = { plugins: { enabled: [], disabled: [] }, configFile: undefined, settings: defaultPluginSettings }
  await expect(openAdmissionReplica({ ...options, admission }, worldOf('kubernetes'))).rejects.toThrow(message)
  const watch = await openWatchReplica(options, worldOf('orch'))
  expect(await watch.checks[0]?.check()).toBeUndefined()
  await watch.stop()
})

test('unencrypted connections do not leave this machine unless that is allowed', async () => {
  const options = { ...shared, listen: '0.0.0.0:0', store: createMemoryStore(), watchHistoryMs: 60_000 }
  await expect(openStorageReplica(options, worldOf('orch'))).rejects.toThrow('must be encrypted')
  const allowed = { ...options, store: createMemoryStore(), trust: { tls: undefined, insecureTransport: true } }
  const storage = await openStorageReplica(allowed, worldOf('orch'))
  expect(storage.address).toMatch(/^0\.0\.0\.0:\d+$/)
  await storage.stop()
})

test('certificates of services on one machine are created once and reused', async () => {
  const folder = aFolder()
  const files = certificateFolder(folder)
  const options = { files, names: namesOf('orch'), hostNames: ['localhost', '127.0.0.1'], clock: systemClock }
  await keepServiceCertificates(options)
  const first = files.read('gateway.crt')
  expect(first).toContain('BEGIN CERTIFICATE')
  await keepServiceCertificates(options)
  expect(files.read('gateway.crt')).toBe(first)
  await keepServiceCertificates({ ...options, hostNames: ['localhost', '127.0.0.1', 'storage.example'] })
  expect(files.read('gateway.crt')).not.toBe(first)
})

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadAllYaml } from '@kubernetes/client-node'
import { parseConfiguration } from '@orch/client'
import { parseServiceIdentity, serviceRoles } from '@orch/core/contracts'
import { controllersUser } from '@orch/core/rbac'
import { readSettings, type Settings } from '@orch/platform'
import { afterAll, describe, expect, test } from 'vitest'
import {
  admissionCommandSettings,
  controllersCommandSettings,
  gatewayCommandSettings,
  nodesCommandSettings,
  storageCommandSettings,
  watchCommandSettings,
} from '../../services/orch/src/distributed/settings.ts'
import { aKubectl, findKubectls, sharedServer } from '../e2e/kubectl.ts'
import { withoutPrograms } from '../programs.ts'
import {
  composeServices,
  deployedRoles,
  deployFolder,
  type Manifest,
  render,
  type Started,
  startedBy,
  systemdServices,
} from './manifests.ts'

const settingsOf: Readonly<Record<string, Settings>> = {
  gateway: gatewayCommandSettings,
  storage: storageCommandSettings,
  watch: watchCommandSettings,
  admission: admissionCommandSettings,
  controllers: controllersCommandSettings,
  nodes: nodesCommandSettings,
}

const kubectl = findKubectls().at(-1)
const openServer = sharedServer()
const overlays = ['overlays/small', 'overlays/ha', 'overlays/external'] as const
const rendered = kubectl === undefined ? [] : overlays.map((overlay) => ({ overlay, ...render(kubectl, overlay) }))
const withoutKubectl = withoutPrograms('kubectl')

const folder = mkdtempSync(join(tmpdir(), 'orch-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const withoutOpenssl = withoutPrograms('openssl')
if (withoutOpenssl === '') execFileSync('sh', [join(deployFolder, 'certificates.sh'), folder], { stdio: 'ignore' })
const secrets = withoutOpenssl === '' ? (loadAllYaml(readFileSync(join(folder, 'secrets.yaml'), 'utf8')) as Manifest[]) : []
/** Tests of the output of certificates.sh. */
const testCertificates = test.skipIf(withoutOpenssl !== '')

function expectReadable({ command, flags }: Started): void {
  const settings = settingsOf[command]
  expect(settings, `the command ${command}`).toBeDefined()
  expect(() => readSettings(settings as Settings, { flags, env: {}, file: undefined })).not.toThrow()
}

test('CARD-07, CARD-23: each service is a separate process in Compose and systemd, with flags that its command has', () => {
  for (const started of [composeServices(), systemdServices()]) {
    expect(started.map(({ command }) => command).sort()).toEqual([...serviceRoles].sort())
    for (const one of started) expectReadable(one)
  }
})

describe.skipIf(kubectl === undefined)(`the kustomizations${withoutKubectl}`, () => {
  test.each(rendered)(
    'CARD-07, CARD-23: in $overlay each service is a Deployment with flags that its command has',
    ({ overlay, manifests }) => {
      const started = startedBy(overlay, manifests)
      expect(started.map(({ command }) => command).sort()).toEqual(deployedRoles)
      for (const one of started) expectReadable(one)
    },
  )

  testCertificates.each(rendered)(
    `in $overlay every file that a flag names is in a Secret that certificates.sh makes${withoutOpenssl}`,
    ({ overlay, manifests }) => {
      for (const { metadata, spec } of manifests.filter(({ kind }) => kind === 'Deployment')) {
        const pod = spec?.template?.spec
        const [container] = pod?.containers ?? []
        const paths = (container?.args ?? []).flatMap((flag) => /=(\/[a-z-]+\/\S+)$/.exec(flag)?.[1] ?? [])
        expect(paths.length, metadata.name).toBeGreaterThanOrEqual(3)
        for (const path of paths) {
          const mount = container?.volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`))
          const secretName = pod?.volumes.find(({ name }) => name === mount?.name)?.secret?.secretName
          // An overlay for an external etcd and NATS contains the secrets for both.
          if (overlay === 'overlays/external' && /^orch-(etcd|nats)-/.test(secretName ?? '')) continue
          const secret = secrets.find((one) => one.metadata.name === secretName)
          expect(Object.keys(secret?.data ?? {}), `${metadata.name} ${path}`).toContain(path.slice(path.lastIndexOf('/') + 1))
        }
      }
    },
  )

  test.each(rendered)('addresses in $overlay name Services that exist, at their ports', ({ manifests }) => {
    const services = new Map(manifests.filter(({ kind }) => kind === 'Service').map((service) => [service.metadata.name, service]))
    const addresses = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .flatMap(({ spec }) => spec?.template?.spec.containers[0]?.args ?? [])
      .flatMap((flag) => [...flag.matchAll(/(?:^|[/=,.])(orch-[a-z]+)\.orch\.svc\.cluster\.local:(\d+)/g)])
    expect(addresses.length).toBeGreaterThanOrEqual(4)
    for (const [text, name = '', port] of addresses) {
      expect(
        services.get(name)?.spec?.ports?.map((one) => String(one.port)),
        text,
      ).toContain(port)
    }
  })

  testCertificates.each(rendered)(
    `$overlay and its Secrets are taken in by the server itself, with strict validation${withoutOpenssl}`,
    { timeout: 120_000 },
    async (one) => {
      const { kubectl: run } = await aKubectl(kubectl as string, openServer)
      await run('create', 'namespace', 'orch')
      const all = join(folder, `${one.overlay.replace('/', '-')}.yaml`)
      writeFileSync(all, `${one.text}\n${readFileSync(join(folder, 'secrets.yaml'), 'utf8')}`)
      const told = await run('apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', all)
      const lines = told.trim().split('\n')
      expect(lines).toHaveLength(one.manifests.length + secrets.length)
      for (const line of lines) expect(line).toMatch(/serverside-applied \(server dry run\)$/)
    },
  )
})

testCertificates(`the certificates name the roles, and hosts by which the services are dialled${withoutOpenssl}`, () => {
  for (const role of serviceRoles) {
    const certificate = new X509Certificate(readFileSync(join(folder, `${role}.crt`)))
    const uris = [...(certificate.subjectAltName ?? '').matchAll(/URI:([^,]+)/g)].map(([, uri = '']) => parseServiceIdentity(uri))
    expect(uris).toEqual([role])
    for (const host of [`orch-${role}`, `orch-${role}.orch.svc.cluster.local`, 'localhost'])
      expect(certificate.checkHost(host)).toBeDefined()
    expect(certificate.verify(new X509Certificate(readFileSync(join(folder, 'ca.crt'))).publicKey)).toBe(true)
  }
})

describe('gateways that proxy to servers of APIServices', () => {
  const gateways = [
    ...composeServices(),
    ...systemdServices(),
    ...rendered.flatMap(({ overlay, manifests }) => startedBy(overlay, manifests)),
  ]
    .filter(({ command }) => command === 'gateway')
    .map(({ from, flags }) => [from, readSettings(gatewayCommandSettings, { flags, env: {}, file: undefined }).values] as const)

  test.each(gateways)('AGG-17: in %s have a client certificate, and publish an authority, its name and the headers', (_from, settings) => {
    const { aggregation, requestheader } = settings
    expect([aggregation.proxyClientCertFile, aggregation.proxyClientKeyFile, requestheader.caFile]).toEqual([
      expect.stringMatching(/\/(front-proxy|tls)\.crt$/),
      expect.stringMatching(/\/(front-proxy|tls)\.key$/),
      expect.stringMatching(/\/(front-proxy-)?ca\.crt$/),
    ])
    expect(requestheader.allowedNames).toEqual(['front-proxy-client'])
    expect(requestheader.usernameHeaders).toEqual(['X-Remote-User'])
    expect(requestheader.uidHeaders).toEqual(['X-Remote-Uid'])
    expect(requestheader.groupHeaders).toEqual(['X-Remote-Group'])
    expect(requestheader.extraHeaderPrefixes).toEqual(['X-Remote-Extra-'])
  })

  testCertificates(`the certificate is of that authority, which no client has one of, and has that name${withoutOpenssl}`, () => {
    const read = (name: string) => new X509Certificate(readFileSync(join(folder, name)))
    const [shown, authority] = [read('front-proxy.crt'), read('front-proxy-ca.crt')]
    expect([shown.subject, shown.verify(authority.publicKey)]).toEqual(['CN=front-proxy-client', true])
    for (const name of ['admin', 'controllers-client', 'monitoring-client', 'gateway'])
      expect(read(`${name}.crt`).verify(authority.publicKey)).toBe(false)
    const secret = secrets.find(({ metadata }) => metadata.name === 'orch-front-proxy')
    expect(Buffer.from(secret?.data?.['ca.crt'] ?? '', 'base64')).toEqual(readFileSync(join(folder, 'front-proxy-ca.crt')))
  })
})

testCertificates(`the client configurations are read as they are written${withoutOpenssl}`, async () => {
  for (const name of ['admin.conf', 'controllers.conf']) {
    const { server, clientCertificate = '' } = await parseConfiguration(readFileSync(join(folder, name), 'utf8'))
    expect(server).toBe('https://orch-gateway.orch.svc.cluster.local:6443')
    expect(new X509Certificate(clientCertificate).subject).toBe(
      name === 'admin.conf' ? 'O=system:masters\nCN=admin' : `CN=${controllersUser}`,
    )
  }
})

testCertificates(`a second run of certificates.sh keeps what is there${withoutOpenssl}`, () => {
  const before = readFileSync(join(folder, 'storage.crt'), 'utf8')
  execFileSync('sh', [join(deployFolder, 'certificates.sh'), folder], { stdio: 'ignore' })
  expect(readFileSync(join(folder, 'storage.crt'), 'utf8')).toBe(before)
})

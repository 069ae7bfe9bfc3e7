import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selectControllers } from '@orch/controllers'
import { eachSetting, printSettingsPage } from '@orch/platform'
import { describe, expect, onTestFinished, test } from 'vitest'
import { printCommandHelp, runCommand } from './command-line.ts'
import { flagsElsewhere } from './settings/general.ts'
import { readUpOptions, upSettings } from './settings/up.ts'
import { printStartMessage } from './start-message.ts'

function aFolder(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const aTerminal = (workingFolder: string, env: Record<string, string> = {}, args: string[] = []) => {
  const printed = { out: '', error: '' }
  return {
    arguments: args,
    env,
    workingFolder,
    printed,
    out(text: string) {
      printed.out += text
    },
    error(text: string) {
      printed.error += text
    },
  }
}

const read = (flags: string[], { env = {}, files = {} }: { env?: Record<string, string>; files?: Record<string, string> } = {}) =>
  readUpOptions(aTerminal(aFolder(files), env), flags)

test('the help equals the golden file', async () => {
  await expect(await printCommandHelp('up')).toMatchFileSnapshot('./help.golden.txt')
})

test('the page of settings in the documentation is current', async () => {
  await expect(printSettingsPage(upSettings, 'Settings of orch up')).toMatchFileSnapshot('../../../docs/reference/settings.md')
})

test.each([
  ['FLAG-01', '--client-ca-file', ''],
  ['FLAG-02', '--token-auth-file', ''],
  ['FLAG-03', '--enable-bootstrap-token-auth', 'false'],
  ['FLAG-07', '--oidc-issuer-url', ''],
  ['FLAG-08', '--oidc-client-id', ''],
  ['FLAG-09', '--oidc-username-claim', 'sub'],
  ['FLAG-11', '--oidc-groups-claim', ''],
  ['FLAG-12', '--oidc-groups-prefix', ''],
  ['FLAG-13', '--oidc-required-claim', ''],
  ['FLAG-14', '--oidc-ca-file', ''],
  ['FLAG-16', '--authentication-token-webhook-config-file', ''],
  ['FLAG-17', '--authentication-token-webhook-cache-ttl', '2m'],
  ['FLAG-18', '--authentication-token-webhook-version', 'v1beta1'],
  ['FLAG-19', '--requestheader-username-headers', ''],
  ['FLAG-20', '--requestheader-group-headers', ''],
  ['FLAG-21', '--requestheader-extra-headers-prefix', ''],
  ['FLAG-22', '--requestheader-client-ca-file', ''],
  ['FLAG-23', '--requestheader-allowed-names', ''],
  ['FLAG-25', '--runtime-config', ''],
  ['FLAG-26, METRIC-22', '--show-hidden-metrics-for-version', ''],
  ['FLAG-27', '--enable-admission-plugins', ''],
  ['FLAG-28', '--admission-control-config-file', ''],
])('%s: the default of %s is shown', (_id, flag, given) => {
  expect(eachSetting(upSettings).find((setting) => setting.flag === flag)?.default).toBe(given)
})

test('METRIC-22: hidden metrics are shown only for the previous release', async () => {
  expect((await read(['--show-hidden-metrics-for-version=1.36'])).serving.metricReleases).toEqual({ current: '1.37', showsHidden: true })
  expect((await read([])).serving.metricReleases.showsHidden).toBe(false)
  for (const version of ['1.35', '1.37', 'yes']) {
    await expect(read([`--show-hidden-metrics-for-version=${version}`])).rejects.toThrow(
      `--show-hidden-metrics-for-version=${version}: must be 1.36, the release before this one`,
    )
  }
})

test('watches end within ten seconds, or within --shutdown-watch-termination-grace-period', async () => {
  expect((await read([])).serving.watchGraceMs).toBe(10_000)
  expect((await read(['--shutdown-watch-termination-grace-period=3s'])).serving.watchGraceMs).toBe(3_000)
})

test('DEP-10: an older name of a flag is accepted with a warning', async () => {
  const files = { 'orch.yaml': 'audit-webhook-batch-initial-backoff: 3s\n', 'policy.yaml': '', 'hook.conf': '' }
  const terminal = aTerminal(aFolder(files))
  const { settings } = await readUpOptions(terminal, ['--audit-webhook-batch-initial-backoff=2s'])
  expect(settings.auditWebhook.backoffMs).toBe(2_000)
  const warning = 'orch: warning: --audit-webhook-batch-initial-backoff is deprecated: use --audit-webhook-initial-backoff\n'
  expect(terminal.printed.error).toBe(warning)
  const again = aTerminal(aFolder(files))
  expect((await readUpOptions(again, ['--config=orch.yaml'])).settings.auditWebhook.backoffMs).toBe(3_000)
  expect(again.printed.error).toBe(warning)
})

test('GATE-06: the help marks gates that are deprecated', async () => {
  expect((await printCommandHelp('up')).replace(/\s+/g, ' ')).toContain('AllowDNSOnlyNodeCSR (DEPRECATED, false)')
})

test('flags of kube-apiserver that this server lacks are refused with the reason', async () => {
  await expect(read(['--etcd-servers=http://127.0.0.1:2379'])).rejects.toThrow(
    '--etcd-servers does not exist here: etcd is configured by the flags of `orch storage`, or --distributed starts one',
  )
  await expect(read(['--v', '2'])).rejects.toThrow('--v does not exist here: logs go to standard error; see --log-level and --log-format')
  const flags = new Set(eachSetting(upSettings).map(({ flag }) => flag))
  expect(Object.keys(flagsElsewhere).filter((flag) => flags.has(flag as `--${string}`))).toEqual([])
})

test('AUDIT-08: audit events have the API version of the profile, and no other version is accepted', async () => {
  await expect(read(['--audit-log-version=audit.orch.io/v1', '--audit-webhook-version=audit.orch.io/v1'])).resolves.toBeDefined()
  await expect(read(['--audit-log-version=audit.orch.io/v1beta1'])).rejects.toThrow(
    '--audit-log-version=audit.orch.io/v1beta1: must be audit.orch.io/v1',
  )
  await expect(read(['--profile=kubernetes', '--audit-webhook-version=audit.orch.io/v1'])).rejects.toThrow('must be audit.k8s.io/v1')
})

test('settings are read from flags, the environment and a file, in that order', async () => {
  const files = {
    'orch.yaml': 'secure-port: 1\nbind-address: 127.0.0.2\ncontrollers: ["*", "-bootstrap"]\nfeature-gates:\n  WatchList: false\n',
  }
  const { settings, controllers, api } = await read(['--config=orch.yaml', '--secure-port=3'], {
    env: { ORCH_SECURE_PORT: '2', ORCH_REQUEST_TIMEOUT: '5s' },
    files,
  })
  expect([settings.securePort, settings.bindAddress, settings.requestTimeoutMs]).toEqual([3, '127.0.0.2', 5_000])
  expect(controllers).toEqual(selectControllers(['*', '-bootstrap']))
  expect(api.featureGates.isOn('WatchList')).toBe(false)
})

test('each profile has its own data folder', async () => {
  expect((await read([])).dataDir).toMatch(/\/\.orch\/orch$/)
  expect((await read(['--profile=kubernetes'])).dataDir).toMatch(/\/\.orch\/kubernetes$/)
  expect((await read(['--data-dir=x'])).dataDir).toMatch(/\/x$/)
})

describe('impossible settings are refused with a sentence', () => {
  const cases: [string, string[], string][] = [
    [
      'AUTHN-ANON-07: anonymous on an address that others reach',
      ['--anonymous-auth', '--authorization-mode=AlwaysAllow', '--bind-address=0.0.0.0'],
      'only a loopback address is accepted',
    ],
    ['AUTHZ-07: a mode that is none', ['--authorization-mode=RBCA'], '--authorization-mode: unknown mode RBCA; did you mean RBAC?'],
    ['AUTHZ-07: a mode twice', ['--authorization-mode=RBAC,RBAC'], '--authorization-mode: RBAC is given twice'],
    ['AUTHZ-04: ABAC without its file', ['--authorization-mode=ABAC'], '--authorization-mode=ABAC needs --authorization-policy-file'],
    ['AUTHZ-04: a policy file without ABAC', ['--authorization-policy-file=x'], '--authorization-policy-file has no effect without'],
    [
      'a cipher suite that is none',
      ['--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25'],
      'did you mean TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256?',
    ],
    ['a key exchange that is none', ['--tls-curve-preferences=23,22'], '22 is no known key exchange; known are 23, 24, 25, 29, 4588'],
    ['a version of TLS that is too old', ['--tls-min-version=VersionTLS11'], 'must be one of VersionTLS12, VersionTLS13'],
    ['profiles without a scheduler', ['--scheduler-config=x'], '--scheduler-config needs the controller scheduler'],
    ['a chance that is too high', ['--goaway-chance=0.5'], '--goaway-chance=0.5: must be a number between 0 and 0.02'],
    ['an address that is none', ['--bind-address=localhost'], '--bind-address=localhost: must be an IP address'],
    ['NAME-05: a prefix that is no path', ['--path-prefix=a b'], '--path-prefix=a b: must be a path such as /cluster-a'],
    ['a certificate without its key', ['--tls-cert-file=x'], '--tls-cert-file needs --tls-private-key-file'],
    ['FLAG-05: a key without its certificate', ['--tls-private-key-file=x'], '--tls-private-key-file needs --tls-cert-file'],
    ['FLAG-01: an authority that is not there', ['--client-ca-file=/none'], '--client-ca-file=/none: the file cannot be read (ENOENT)'],
    [
      'GATE-11: an unknown gate',
      ['--feature-gates=WatchLis=true'],
      '--feature-gates: unknown feature gate WatchLis; did you mean WatchList?',
    ],
    [
      'FLAG-29: an unknown controller',
      ['--controllers=namespaces'],
      '--controllers: unknown controller namespaces; did you mean namespace?',
    ],
    ['RTC-01: an unknown group version', ['--runtime-config=nothing/v1=true'], '--runtime-config: '],
    ['a file that is not there', ['--config=none.yaml'], 'none.yaml: the file cannot be read (ENOENT)'],
    ['a file that is no YAML', ['--config=bad.yaml'], 'bad.yaml: the file is not YAML'],
  ]
  test.each(cases)('%s', async (_, flags, message) => {
    await expect(read(flags, { files: { 'bad.yaml': 'a: [' } })).rejects.toThrow(message)
  })
})

describe('the command', () => {
  const run = async (...args: string[]) => {
    const terminal = aTerminal(aFolder(), {}, args)
    return { code: await runCommand(terminal), ...terminal.printed }
  }

  test('help covers each command that it lists, in columns', async () => {
    const { out } = await run('help')
    const listed = [...out.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name = '']) => name)
    expect(listed).toEqual(expect.arrayContaining(['up', 'ctl', 'envtest-assets', 'version', 'help']))
    for (const name of listed)
      expect({ name, ...(await run('help', name)) }).toMatchObject({ name, code: 0, out: expect.stringMatching(/^Usage: orch/) })
    expect((await run('help', 'ctl', 'get')).out).toContain('Usage: orchctl get ')
    expect((await run('envtest-assets', '--help')).out).toBe((await run('help', 'envtest-assets')).out)
    expect(await run('help', 'none')).toMatchObject({ code: 2 })
  })

  test('help and version print and exit', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, out: expect.stringContaining('Usage: orch <command>') })
    expect(await run('up', '--help')).toMatchObject({ code: 0, out: expect.stringContaining('--secure-port int') })
    for (const words of [['version'], ['--version'], ['up', '--version']]) {
      expect(await run(...words)).toMatchObject({ code: 0, out: expect.stringMatching(/^orch \d+\.\d+\.\d+ \(API level 1\.37, Node v/) })
    }
  })

  test('reports an error in one sentence, with its exit code', async () => {
    expect(await run('upp')).toEqual({ code: 2, out: '', error: 'orch: unknown command upp; did you mean up?\n' })
    expect(await run('up', '--memry')).toEqual({ code: 2, out: '', error: 'orch: unknown flag --memry; did you mean --memory?\n' })
  })
})

test('the start message shows curl lines in the orch profile and kubectl lines in the kubernetes profile', () => {
  const configuration = { server: 'https://127.0.0.1:6443/prefix' }
  const options = {
    configuration,
    dataDir: '/w/.orch/x',
    isInMemory: false,
    hasControl: false,
    hasGivenCertificate: false,
    workingFolder: '/w',
  }
  const orch = printStartMessage({ ...options, profile: 'orch' })
  expect(orch).toContain('  d=.orch/x\n  api() { curl --cacert "$d/ca.crt" --cert "$d/admin.crt" --key "$d/admin.key" "$@"; }\n')
  expect(orch.match(/^ {2}api .*https:\/\/127\.0\.0\.1:6443\/prefix\/api\/v1\/namespaces/gm)).toHaveLength(3)
  expect(orch).toContain('For kubectl, start with: --profile kubernetes')
  const kubernetes = printStartMessage({ ...options, profile: 'kubernetes' })
  expect(kubernetes.split('Try:\n')[1]).toBe(
    '  export KUBECONFIG=/w/.orch/x/admin.conf\n  kubectl get namespaces\n  kubectl explain node.spec.taints\n',
  )
  expect(printStartMessage({ ...options, hasControl: true, profile: 'kubernetes' })).toBe(
    `${kubernetes}For tests in other languages:\n  export ORCH_CONTROL=/w/.orch/x/control.json\n`,
  )
  const named = printStartMessage({
    ...options,
    configuration: { ...configuration, serverName: 'api.example.com' },
    hasGivenCertificate: true,
    profile: 'orch',
  })
  expect(named).toContain(
    '  api() { curl --connect-to api.example.com:6443:127.0.0.1:6443 \\\n    --cacert "$d/serving-ca.crt" --cert "$d/admin.crt" --key "$d/admin.key" "$@"; }\n  api https://api.example.com:6443/prefix/api/v1/namespaces\n',
  )
  for (const line of `${orch}${kubernetes}${named}`.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
})

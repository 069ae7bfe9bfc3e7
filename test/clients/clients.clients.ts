import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { aFolder } from '@orch/testkit/folder'
import { start } from 'orch'
import { beforeAll, describe, expect, test } from 'vitest'
import { aKubectl, findKubectls } from '../e2e/kubectl.ts'
import { installPackage } from '../package/installed-package.ts'
import { findProgram, withoutPrograms } from '../programs.ts'

const run = promisify(execFile)
const folder = import.meta.dirname
const levels = [31, 34, 37] as const

/** The output of a program, whatever its exit code. */
async function outputOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  const sent = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
  return run(program, args, sent).then(
    ({ stdout }) => stdout,
    (error) => `${error.stdout}\n${error.stderr}\n${error.message}`,
  )
}

describe.skipIf(findProgram('go') === undefined)(`client-go and controller-runtime${withoutPrograms('go')}`, () => {
  const steps = ['TestOperator/Typed', 'TestOperator/Watch', 'TestOperator/Apply', 'TestOperator/Operator', 'TestOperator']
  let compiled = ''
  beforeAll(async () => {
    compiled = join(mkdtempSync(join(tmpdir(), 'clients-go-')), 'operator.test')
    await run('go', ['test', '-c', '-o', compiled, '.'], { cwd: join(folder, 'go') })
  })

  test.each(levels)('an operator with webhooks runs in envtest at 1.%i', async (level) => {
    const { project, bin } = await installPackage()
    const assets = await run(process.execPath, [
      bin,
      'envtest-assets',
      'use',
      `1.${level}.x`,
      '--bin-dir',
      join(project, 'bin'),
      '-p',
      'path',
    ])
    const env = { KUBEBUILDER_ASSETS: assets.stdout.trim(), CLIENTS_LEVEL: String(level) }
    const output = await outputOf(compiled, ['-test.v'], env, aFolder())
    const passed = [...output.matchAll(/^\s*--- PASS: (\S+)/gm)].map(([, name]) => name)
    expect({ passed: passed.toSorted(), output }).toEqual({ passed: steps.toSorted(), output })
  })
})

/** A client program and its preparation. The program prints a line for each successful step. */
interface Course {
  readonly client: string
  readonly needs: readonly string[]
  readonly prepare: () => Promise<readonly [program: string, ...args: string[]]>
}

const courses: readonly Course[] = [
  {
    client: 'the Python client with an operator of kopf',
    needs: ['python3'],
    async prepare() {
      const environment = mkdtempSync(join(tmpdir(), 'clients-python-'))
      await run('python3', ['-m', 'venv', environment])
      const python = join(environment, 'bin/python')
      await run(python, ['-m', 'pip', 'install', '--quiet', '-r', join(folder, 'python/requirements.txt')])
      return [python, join(folder, 'python/course.py')]
    },
  },
  {
    client: 'kube-rs',
    needs: ['cargo'],
    async prepare() {
      const target = join(folder, '../../.cache/clients-rust')
      await run('cargo', ['build', '--quiet', '--locked', '--target-dir', target], { cwd: join(folder, 'rust') })
      return [join(target, 'debug/course')]
    },
  },
  {
    client: 'the Java client of fabric8',
    needs: ['java', 'mvn'],
    async prepare() {
      const project = mkdtempSync(join(tmpdir(), 'clients-java-'))
      cpSync(join(folder, 'java'), project, { recursive: true })
      await run('mvn', ['-q', '-B', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath'], { cwd: project })
      return ['java', '-cp', `${join(project, 'target/classes')}:${readFileSync(join(project, 'classpath'), 'utf8')}`, 'Course']
    },
  },
  {
    client: 'the JavaScript client',
    needs: [],
    prepare: async () => [process.execPath, join(folder, 'javascript/main.ts')],
  },
]

describe.each(courses)('clients', ({ client, needs, prepare }) => {
  const absent = needs.filter((program) => findProgram(program) === undefined)
  let command: Awaited<ReturnType<Course['prepare']>>
  beforeAll(async () => {
    if (absent.length === 0) command = await prepare()
  })

  test.skipIf(absent.length > 0).each(levels)(`${client} and its controller work at 1.%i${withoutPrograms(...needs)}`, async (level) => {
    const server = await start({ profile: 'kubernetes', version: `1.${level}` })
    const own = aFolder()
    try {
      const kubeconfig = join(own, 'kubeconfig')
      writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 })
      const [program, ...args] = command
      const output = await outputOf(program, args, { KUBECONFIG: kubeconfig, LEVEL: String(level) }, own)
      const passed = [...output.matchAll(/^ok (\S+)$/gm)].map(([, name]) => name)
      expect({ passed, output }).toEqual({ passed: ['typed', 'watch', 'apply', 'leader', 'operator'], output })
    } finally {
      await server.stop()
    }
  })
})

const newestKubectl = findKubectls().at(-1)
describe.skipIf(newestKubectl === undefined)(`kubectl${withoutPrograms('kubectl')}`, () => {
  test.each(levels)('creates, applies, watches and defines at 1.%i', async (level) => {
    const server = await start({ profile: 'kubernetes', version: `1.${level}` })
    try {
      const { kubectl, withFile } = await aKubectl(newestKubectl ?? '', async () => server)
      const pod = `{apiVersion: v1, kind: Pod, metadata: {name: today}, spec: {hostnameOverride: web.example.com,
        initContainers: [{name: sidecar, image: 's:1', restartPolicy: Always}], containers: [{name: main, image: 'm:1'}]}}`
      const made = withFile(
        'create',
        pod,
        '--validate=false',
        '-o',
        'jsonpath={.spec.initContainers[0].restartPolicy} {.spec.hostnameOverride}',
      )
      expect(await made).toBe(`Always ${level >= 35 ? 'web.example.com' : ''}`)
      const seen = kubectl('get', 'cm', '--watch-only', '-o', 'name', '--request-timeout', '4s').catch(({ stdout }) => stdout)
      const map = (text: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}, data: {a: '${text}'}}`
      await withFile('apply', map('1'))
      expect(await withFile('apply', map('1'))).toBe('configmap/applied unchanged\n')
      await withFile('apply', map('1'), '--server-side', '--field-manager', 'first', '--force-conflicts')
      const conflict = withFile('apply', map('2'), '--server-side', '--field-manager', 'second')
      await expect(conflict).rejects.toMatchObject({ stderr: expect.stringContaining('conflict with "first"') })
      await withFile('apply', map('2'), '--server-side', '--field-manager', 'second', '--force-conflicts')
      expect(await kubectl('get', 'cm', 'applied', '-o', 'jsonpath={.data.a}')).toBe('2')
      expect(await seen).toContain('configmap/applied\n')
      await withFile('apply', widgets)
      await kubectl('wait', '--for', 'condition=Established', 'crd/widgets.clients.example.com', '--timeout', '60s')
      await withFile('create', '{apiVersion: clients.example.com/v1, kind: Widget, metadata: {name: one}, spec: {size: 3}}')
      await kubectl('patch', 'widget', 'one', '--type', 'merge', '--subresource', 'status', '-p', '{"status":{"size":3}}')
      expect(await kubectl('get', 'widget', 'one', '-o', 'jsonpath={.status.size}')).toBe('3')
      await kubectl('delete', 'widget/one', 'pod/today', '--now')
      expect(await kubectl('get', 'widgets,pods', '-o', 'name')).toBe('')
    } finally {
      await server.stop()
    }
  })
})

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.clients.example.com}
spec:
  group: clients.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

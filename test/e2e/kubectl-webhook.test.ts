import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { answering, aWebhookServer, patching } from '../admission/webhook-server.ts'
import { aKubectl, describeKubectls } from './kubectl.ts'

const run = promisify(execFile)

/** A webhook for creates of ConfigMaps. */
function configuration(kind: string, name: string, { url, caBundle }: { url: string; caBundle: string }): string {
  const rule = "{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}"
  const hook = `{name: ${name}.example.com, clientConfig: {url: '${url}', caBundle: ${caBundle}}, rules: [${rule}], sideEffects: None, admissionReviewVersions: [v1]}`
  return `apiVersion: admissionregistration.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nwebhooks: [${hook}]\n`
}

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('ADM-REV-25, ADM-REV-27, ADM-FLOW-20: shows warnings, the change by a webhook, and its refusal', async () => {
    const judge = await aWebhookServer(
      answering(({ request }) => ({ allowed: request.name !== 'bad', status: { message: 'not that name' }, warnings: ['Namen zählen'] })),
    )
    const change = await aWebhookServer(patching(() => [{ op: 'add', path: '/data/added', value: 'by a webhook' }]))
    const { kubectl, withFile, env } = await aKubectl(binary)
    await withFile('create', configuration('ValidatingWebhookConfiguration', 'judge', judge))
    await withFile('create', configuration('MutatingWebhookConfiguration', 'change', change))
    const create = (name: string) => run(binary, ['create', 'configmap', name, '--from-literal=a=b'], { env, timeout: 60_000 })
    const { stdout, stderr } = await create('good')
    expect(stdout).toBe('configmap/good created\n')
    expect(stderr).toContain('Warning: Namen zählen')
    expect(await kubectl('get', 'configmap', 'good', '-o', 'jsonpath={.data}')).toBe('{"a":"b","added":"by a webhook"}')
    await expect(create('bad')).rejects.toMatchObject({
      stderr: expect.stringMatching(/Warning: Namen zählen\n.*admission webhook "judge.example.com" denied the request: not that name/),
    })
    expect(judge.calls[0]?.review.apiVersion).toBe('admission.k8s.io/v1')
  })
})

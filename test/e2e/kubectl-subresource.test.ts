import { expect, test } from 'vitest'
import { aKubectl, describeKubectls } from './kubectl.ts'

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('TABLE-06: get --subresource shows a scale and a status', async () => {
    const { kubectl } = await aKubectl(binary)
    await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=3')
    expect(await kubectl('get', 'deploy', 'web', '--subresource=scale')).toMatch(/^NAME +DESIRED +AVAILABLE +AGE\nweb +3 +0 +\d+s\n$/)
    expect(await kubectl('get', 'deploy', 'web', '--subresource=status')).toMatch(/^NAME +READY .*\nweb +0\/3 /)
    expect(await kubectl('get', 'deploy', 'web', '--subresource=scale', '-o', 'jsonpath={.kind} {.spec.replicas}')).toBe('Scale 3')
  })
})

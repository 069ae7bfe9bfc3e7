import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { aKubectl, describeKubectls } from './kubectl.ts'

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd], categories: [all] }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: Something to be sold.
        properties:
          spec:
            type: object
            properties:
              replicas: { type: integer, description: How many there should be. }
              color: { type: string, default: red }
              parts: { type: array, items: { type: object, properties: { name: { type: string }, size: { type: integer, default: 1 } } } }
          status: { type: object, properties: { replicas: { type: integer } } }
    subresources: { status: {}, scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas } }
    additionalPrinterColumns:
    - { name: Color, type: string, jsonPath: .spec.color }
    - { name: Wanted, type: integer, jsonPath: .spec.replicas }
`

const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: { name: a }
spec: { replicas: 2 }
`

const listed = (name: string) => `
apiVersion: example.com/v1
kind: Widget
metadata: { name: b }
spec: { parts: [{ name: ${name} }] }
`

describeKubectls('%s', { timeout: 180_000 }, (binary) => {
  test('CRD-74, CRD-152, CRD-153: creates a definition and its object: get, explain, scale, patch, apply, edit, delete', async () => {
    const { kubectl, withFile, env } = await aKubectl(binary)
    expect(await withFile('create', definition)).toBe('customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\n')
    expect(await kubectl('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=5s')).toContain('condition met')
    expect(await withFile('create', widget)).toBe('widget.example.com/a created\n')
    expect((await kubectl('get', 'wd')).split('\n')[0]?.split(/\s+/)).toEqual(['NAME', 'COLOR', 'WANTED'])
    expect((await kubectl('get', 'all', '--no-headers')).split('\n').find((line) => line.startsWith('widget'))).toMatch(
      /^widget\.example\.com\/a +red +2$/,
    )
    expect(await kubectl('explain', 'widget.spec.replicas')).toContain('How many there should be.')
    expect(await kubectl('explain', 'widget', '--recursive')).toContain('color')
    expect(await kubectl('scale', 'widget/a', '--replicas=5')).toBe('widget.example.com/a scaled\n')
    expect(await kubectl('get', 'widget', 'a', '-o', 'jsonpath={.spec}')).toBe('{"color":"red","replicas":5}')
    expect(await kubectl('patch', 'widget', 'a', '--type=merge', '-p', '{"spec":{"color":"blue"}}')).toBe('widget.example.com/a patched\n')
    expect(await withFile('apply', listed('one'))).toBe('widget.example.com/b created\n')
    // The live list has defaults that the file lacks. kubectl sends a patch of the type that OpenAPI offers.
    expect(await withFile('apply', listed('two'))).toBe('widget.example.com/b configured\n')
    expect(await kubectl('get', 'widget', 'b', '-o', 'jsonpath={.spec.parts}')).toBe('[{"name":"two","size":1}]')
    const editor = join(aFolder(), 'editor.sh')
    writeFileSync(editor, '#!/bin/sh\nsed "s/size: 1/size: 7/" "$1" > "$1.new" && mv "$1.new" "$1"\n', { mode: 0o700 })
    Object.assign(env, { EDITOR: editor })
    expect(await kubectl('edit', 'widget', 'b')).toBe('widget.example.com/b edited\n')
    expect(await kubectl('get', 'widget', 'b', '-o', 'jsonpath={.spec.parts}')).toBe('[{"name":"two","size":7}]')
    expect(await withFile('apply', listed('three'), '--server-side', '--force-conflicts')).toBe('widget.example.com/b serverside-applied\n')
    expect(await kubectl('delete', 'crd', 'widgets.example.com', '--timeout=20s')).toContain('deleted')
    await expect(kubectl('get', 'widgets.example.com')).rejects.toMatchObject({
      stderr: expect.stringContaining("the server doesn't have a resource type"),
    })
  })
})

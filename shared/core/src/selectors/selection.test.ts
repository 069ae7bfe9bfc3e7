import { expect, test } from 'vitest'
import { objectKey, scopePrefix } from './selection.ts'

test.each([
  ['default', 'core/pods/default/web-0'],
  ['', 'core/pods/web-0'],
  [undefined, 'core/pods/web-0'],
])('the key of an object in the namespace %j is %s', (namespace, key) => {
  expect(objectKey('core/pods', namespace, 'web-0')).toBe(key)
})

test.each([
  ['default', 'core/pods/default/'],
  ['', 'core/pods/'],
  [undefined, 'core/pods/'],
])('the keys of the namespace %j begin with %s', (namespace, prefix) => {
  expect(scopePrefix({ resource: 'core/pods', namespace })).toBe(prefix)
})

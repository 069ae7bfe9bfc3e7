import { expect, test } from 'vitest'
import { ref } from '../description/define.ts'
import { textAt } from '../meta/level-text.ts'
import { differenceOf } from './object-difference.ts'

const before = { name: 'a', value: 'b' }

test('TODAY-POD-20: a difference is the JSON of both values in the unified format, from 1.34 on', () => {
  const difference = differenceOf(ref('core/v1.PodDNSConfigOption'), before, { name: 'a', value: 'c' })
  expect(textAt(difference, 34)).toBe('\n@@ -1,4 +1,4 @@\n {\n  "Name": "a",\n- "Value": "b"\n+ "Value": "c"\n }\n')
  expect(textAt(difference, 33)).toBe('')
})

test('TODAY-POD-20: a difference shows three lines before and after the changed ones', () => {
  const config = (third: string) => ({ nameservers: ['1', '2', third, '4', '5', '6'] })
  const difference = textAt(differenceOf(ref('core/v1.PodDNSConfig'), config('3'), config('x')), 37)
  expect(difference).toBe('\n@@ -2,7 +2,7 @@\n  "Nameservers": [\n   "1",\n   "2",\n-  "3",\n+  "x",\n   "4",\n   "5",\n   "6"\n')
})

import { expect, test } from 'vitest'
import { goIntOrString, goLabelSelector, goLabels, goStruct } from './go-values.ts'

const noTerms = 'MatchExpressions:[]v1.LabelSelectorRequirement(nil)'

test.each([
  ['labels, by their names', goLabels({ b: '2', a: 'x"y' }), 'map[string]string{"a":"x\\"y", "b":"2"}'],
  ['no labels', goLabels({}), 'map[string]string(nil)'],
  [
    'a selector of labels',
    goLabelSelector({ matchLabels: { a: 'b' } }),
    `v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, ${noTerms}}`,
  ],
  [
    'a selector of terms',
    goLabelSelector({
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['b', 'c'] },
        { key: 'd', operator: 'Exists' },
      ],
    }),
    'v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"a", Operator:"In", Values:[]string{"b", "c"}}, v1.LabelSelectorRequirement{Key:"d", Operator:"Exists", Values:[]string(nil)}}}',
  ],
  ['a count', goIntOrString(3), 'intstr.IntOrString{Type:0, IntVal:3, StrVal:""}'],
  ['a share', goIntOrString('25%'), 'intstr.IntOrString{Type:1, IntVal:0, StrVal:"25%"}'],
  ['no count', goIntOrString(undefined), 'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}'],
  ['a struct', goStruct('a.B', { name: 'n' }, { Kind: 'kind', Name: 'name' }), 'a.B{Kind:"", Name:"n"}'],
])('%s', (_title, printed, expected) => {
  expect(printed).toBe(expected)
})

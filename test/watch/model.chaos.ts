import { chaosSeed } from '../chaos/seed.ts'
import { testModel } from './model.ts'

testModel(chaosSeed)

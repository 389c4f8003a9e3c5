package trust

// rule is a sequence of meanings that says something to an AI.
type rule struct {
	flag   Flag
	weight int // 2: a highlight; 3: enough for the badge
	steps  []match
}

// match is one word of a rule.
type match struct {
	any concept // the word has one of these meanings
	all concept // and all of these
	gap int     // at most so many words before it
	not concept // none of these in the two words before it
	rev bool    // it may stand on either side of the first word, within the gap
}

// signs are meanings that come from the place of a word. They are not looked
// for by the first pass, which reads words alone.
const signs = angled | colon | lineStart | dest | recipient | toolName | pipe

// possible tells whether words with these meanings could match.
func (r *rule) possible(seen concept) bool {
	for _, s := range r.steps {
		if s.any&signs == 0 && s.any&seen == 0 {
			return false
		}
		if s.any&angled != 0 && s.any&^signs == 0 && seen&angled == 0 {
			return false
		}
		if need := s.all &^ signs; need&seen != need || s.all&angled != 0 && seen&angled == 0 {
			return false
		}
	}
	return true
}

// rules lists what is looked for. The order has no meaning.
func rules() []rule {
	w := func(any concept, gap int) match { return match{any: any, gap: gap} }
	head := func(any concept) match { return match{any: any, not: negation} }
	return []rule{
		// Setting aside what was said before.
		{"inj.override", 3, []match{head(ignore), w(prior|your, 3), w(instr, 4)}},
		{"inj.override", 3, []match{head(ignore), w(instr, 4), w(prior|your, 3)}},
		{"inj.override", 3, []match{{any: ignoreLate}, {any: instr, gap: 6, rev: true}, {any: prior | your, gap: 8, rev: true}}},
		{"inj.override", 3, []match{head(ignore), w(all|what|prior, 3), w(told, 5)}},
		{"inj.override", 3, []match{head(ignore), w(your, 3), w(told, 3)}},
		{"inj.override", 2, []match{head(ignore), w(and, 5), w(say, 0)}},
		{"inj.override", 3, []match{head(ignore), w(and, 5), w(utter, 0)}},
		{"inj.override", 2, []match{{any: instead}, w(say|imagine, 1)}},
		{"inj.override", 2, []match{{any: prior}, w(instr, 1), w(void, 4)}},
		{"inj.override", 2, []match{{any: must | and | your | ai}, w(only, 1), w(say, 0)}},
		{"inj.override", 2, []match{{any: must | and | your | ai}, w(say, 1), w(only, 1)}},
		{"inj.override", 2, []match{{any: now}, w(your, 1), w(must, 1)}},
		{"inj.override", 2, []match{{any: your}, w(fresh, 0), w(mode|instr, 1)}},
		{"inj.override", 2, []match{{any: to}, {any: say, all: colon}}},
		{"inj.override", 2, []match{{any: negation}, w(summary|reads, 0)}},
		{"inj.override", 3, []match{{any: negation}, w(follow, 1), w(prior|your|all, 2), w(instr, 3)}},
		{"inj.override", 3, []match{head(ignore), w(document, 4), w(and|colon, 2), {any: say, gap: 2}}},
		{"inj.override", 2, []match{head(ignore), w(prior, 2), w(and, 2), w(say|reveal, 2)}},
		{"inj.override", 2, []match{head(ignore), w(instr, 2)}},
		{"inj.override", 2, []match{{any: fresh}, {any: instr, gap: 1, all: colon}}},
		{"inj.override", 2, []match{{any: imagine}, w(ignore|say, 8), w(document|prior, 3)}},
		{"inj.override", 2, []match{{any: say, all: lineStart}, {any: following, gap: 1, all: colon}}},
		{"inj.override", 2, []match{{any: must}, w(say, 0), w(following, 2)}},
		{"inj.override", 3, []match{{any: your}, w(must, 1), w(follow, 1), w(instr, 4)}},
		{"inj.encoded", 3, []match{{any: ciphered}}},
		{"inj.encoded", 2, []match{{any: smallCipher}, w(smallCipher, 6)}},

		// Imitating the structure of a conversation.
		{"inj.role", 3, []match{{any: roleTag, all: angled}}},
		{"inj.role", 3, []match{{any: power | system, all: angled}, w(mode, 0)}},
		{"inj.role", 3, []match{{any: system, all: lineStart | colon}, w(your|ignore, 2)}},
		{"inj.role", 2, []match{{any: persona | power}, w(mode, 0), w(now, 3)}},
		{"inj.role", 3, []match{{any: your}, w(are, 0), w(now, 0), w(persona|ai|power, 3)}},
		{"inj.role", 2, []match{{any: your}, w(are, 0), w(now, 0)}},
		{"inj.role", 3, []match{{any: iam}, w(your, 1), {any: power, gap: 1}}},
		{"inj.role", 2, []match{{any: iam}, w(power, 2), w(secret|must|mode|enter, 9)}},
		{"inj.role", 2, []match{{any: iam}, w(enter, 2), w(mode, 5)}},
		{"inj.role", 3, []match{{any: ai}, w(maker, 3)}},
		{"inj.role", 2, []match{{any: system, all: lineStart}, w(address|ignore|instr, 1)}},
		{"inj.role", 2, []match{{any: ai, all: lineStart | colon}}},

		// Speaking to an AI.
		{"inj.agent", 3, []match{{any: ai}, w(reads, 1), w(pronoun, 1)}},
		{"inj.agent", 3, []match{{any: ifWord}, w(your, 0), w(are, 0), w(ai, 2)}},
		{"inj.agent", 3, []match{{any: ifWord}, w(your, 0), w(are, 0), w(model, 3)}},
		{"inj.agent", 3, []match{{any: address, all: lineStart}, w(to, 0), w(ai, 3)}},
		{"inj.agent", 2, []match{{any: ifWord}, w(your|ai, 1), w(summary|reads, 1)}},
		{"inj.agent", 3, []match{{any: ai}, w(reads, 2), w(pronoun, 1), w(document, 1)}},
		{"inj.agent", 3, []match{{any: address, all: lineStart}, {any: ai, all: colon, gap: 2}}},
		{"inj.agent", 2, []match{{any: address, all: lineStart}, w(ai, 2)}},
		{"inj.agent", 2, []match{{any: your}, w(are, 0), w(ai, 4)}},
		{"inj.agent", 2, []match{{any: ifWord}, w(are, 2), w(ai, 3)}},
		{"inj.agent", 2, []match{{any: ifWord}, w(ai, 3), w(are, 0)}},
		{"inj.agent", 2, []match{{any: tell}, w(user, 1), {any: to}}},
		{"inj.agent", 2, []match{{any: ai}, w(must, 0), w(ignore|send|run|say|reveal|follow|tell, 3)}},

		// Hiding something.
		{"inj.conceal", 3, []match{{any: negation}, w(tell, 1), w(user, 3)}},
		{"inj.conceal", 3, []match{{any: tell}, w(negation, 0), w(user, 2)}},
		{"inj.conceal", 3, []match{{any: hide}, w(pronoun, 2), w(user, 4)}},
		{"inj.conceal", 2, []match{{any: negation}, w(tell, 0), w(anyone, 2)}},
		{"inj.conceal", 3, []match{{any: negation}, w(tell|reveal, 1), w(pronoun|prior, 1), w(instr, 2)}},
		{"inj.conceal", 3, []match{{any: negation}, w(user, 2), w(quiet, 1)}},
		{"inj.conceal", 3, []match{{any: user}, {any: tell, all: negation, gap: 3}}},
		{"inj.conceal", 2, []match{{any: user}, w(tell, 3), w(negation, 0)}},
		{"inj.conceal", 2, []match{{any: user}, w(negation, 2), w(tell, 0)}},
		{"inj.conceal", 2, []match{{any: tell}, w(user, 2), w(negation, 1)}},
		{"inj.conceal", 2, []match{{any: quiet}, w(send|run|reveal, 2)}},

		// Sending data away, asking for secrets.
		{"inj.exfil", 3, []match{head(send), w(secret, 6), w(dest|recipient, 12)}},
		{"inj.exfil", 3, []match{head(send), w(secret1, 6), w(secret2, 1), w(dest|recipient, 12)}},
		{"inj.exfil", 2, []match{head(send), w(mail, 5), w(dest|recipient, 6)}},
		{"inj.exfil", 3, []match{head(send), w(all|prior, 2), w(mail, 3), w(dest|recipient, 6)}},
		{"inj.secret", 2, []match{head(send), w(secret, 4)}},
		{"inj.secret", 2, []match{head(send), w(secret1, 5), w(secret2, 0)}},
		{"inj.secret", 3, []match{head(reveal), w(your|system, 2), w(instr, 2)}},
		{"inj.secret", 2, []match{head(reveal | summary), w(your, 5), w(instr, 1)}},
		{"inj.secret", 2, []match{head(reveal), w(your, 1), w(secret, 2)}},
		{"inj.secret", 2, []match{head(reveal), w(secret, 1)}},
		{"inj.secret", 2, []match{{any: what}, w(secret, 3)}},

		// Having tools and commands run.
		{"inj.tool", 3, []match{{any: callTag, all: angled}}},
		{"inj.tool", 3, []match{{any: must}, w(run, 2), w(toolName, 2)}},
		{"inj.tool", 3, []match{{any: run}, w(toolName, 2), w(tool, 1)}},
		{"inj.tool", 2, []match{{any: must | and | ai}, w(run, 1), w(tool, 4)}},
		{"inj.tool", 3, []match{{any: fetch}, {any: shell, all: pipe, gap: 40}}},
		{"inj.command", 2, []match{{any: run}, w(following, 1), w(fetch, 8)}},
	}
}

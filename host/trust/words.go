package trust

// concept is a set of meanings that a word can have for the rules.
type concept uint64

// Meanings. Words of all languages share them.
const (
	ignore      concept = 1 << iota // set aside, as said before its object
	ignoreLate                      // the same, where the verb comes last
	prior                           // earlier, above, all
	instr                           // instructions, rules, prompt
	your                            // your, you
	told                            // been told
	all                             // everything, anything
	follow                          // follow, obey, listen to
	negation                        // not, never, without
	and                             // and, then
	document                        // page, text, resume
	say                             // state, output, write
	utter                           // state, claim: said to no colleague
	ai                              // assistant, language model
	reads                           // reading, processing
	address                         // note to, dear
	must                            // must, should
	model                           // language model: second word
	are                             // you are
	now                             // now, from now on
	persona                         // DAN, unrestricted
	mode                            // mode
	power                           // developer, god, system (of a mode or a claim)
	maker                           // openai, anthropic
	iam                             // I, I'm
	tell                            // tell, inform, notify
	user                            // user, owner, human
	anyone                          // anyone
	hide                            // hide, conceal
	quiet                           // silently, secretly
	send                            // send, post, upload
	reveal                          // reveal, print, share
	secret                          // password, credentials
	secret1                         // api, access, environment: first word
	secret2                         // key, token, variables: second word
	mail                            // inbox, messages, data
	dest                            // an address
	run                             // run, call, use
	tool                            // tool, function
	toolName                        // snake_case name of a tool
	fetch                           // curl, wget
	shell                           // sh, bash behind a pipe
	roleTag                         // im_start, system: strong as a tag only
	callTag                         // function_calls, invoke
	following                       // following
	fresh                           // new, real, updated
	imagine                         // imagine, suppose, hypothetically
	ciphered                        // a key word in a simple cipher
	smallCipher                     // the, and, that in a simple cipher
	enter                           // entering, activate
	ifWord                          // if, when
	what                            // what
	system                          // system
	only                            // only, exactly
	void                            // void, no longer valid
	instead                         // instead, let's
	summary                         // summarize, review
	angled                          // behind < or | or [
	colon                           // before a colon
	lineStart                       // first of its line
	to                              // to, for
	pronoun                         // it, this, them
	recipient                       // an email address
	pipe                            // behind |
)

// vocabulary lists the words of each meaning, folded as texts are: lower case,
// no accents. A star stands for any ending. Words of scripts without blanks
// are found inside of longer text.
var vocabulary = []struct {
	meaning concept
	words   string
}{
	{ignore, `supersede supersedes ignore ignoring disregard disregarding forget overlook bypass neglect discard override
		ignora ignorad ignorar ignore olvida olvide olvidad olvidar descarta descarte omite omita desestima
		ignorez ignorer oubliez oublie oublier negligez
		ignoriere ignorieren ignoriert vergiss vergesst vergessen missachte missachten
		ignorate ignorare dimentica dimenticare dimenticate trascura
		desconsidere desconsidera esqueca esquecer ignorem negeer vergeet ignorera glom ignorer glem
		zignoruj ignoruj zapomnij pomin ignorujte zapomen zapomente
		игнориру* проигнориру* игнорир* забудь* забыть отбрось ігнору* проігнору* забудь
		abaikan lupakan acuhkan bo hay quen ignorati uita uitati
		αγνοησε αγνοηστε ξεχασε تجاهل تجاهلي تجاهلوا انس תתעלם התעלם התעלמו שכח
		忽略 忽视 無視 忘记 忘掉 不要理会 无视 別理會 忽視 忘記 hunsahau puuza jibu unohda ohita disobey abandon revoke nullify supercede supercedes erase dismiss ignoriert ignorad abandona desobedece anula abandonnez annule annulez missachtet verwirf annulla scarta descarte anule desobedeca pomijaj odrzuc відкинь забудьте отбросьте отмени скасуй`},
	{ignoreLate, `無視して 無視し 忘れて 無視 무시 잊어 잊고 무시하고 무시하세요 yoksay yok unut unutun gormezden
		ignorieren vergessen अनदेखा नजरअंदाज भूल نادیده فراموش figyelmen felejtsd เพิกเฉย ละเว้น ลืม مة`},
	{prior, `previous previously prior earlier preceding former past foregoing above initial original all any every existing before old
		anteriores anterior previas previos previa todas todos toda tus sus
		precedentes precedente precedents toutes tous
		vorherigen vorherige vorangegangenen bisherigen fruheren alle obigen
		precedenti tutte tutti previas prévias vorige eerdere alle tidigare alla tidligere
		poprzednie wszystkie wczesniejsze predchozi vsechny
		предыдущ* прежн* ранее все всех вышеуказанн* предшествующ* попередн* усi всi
		onceki tum butun sebelumnya semua truoc anterioare toate προηγουμενες ολες
		السابقة السابق كل جميع הקודמות כל קודמות पिछले सभी पूर्व قبلی تمام
		之前 以前 先前 上述 所有 前面 上面 一切 全部 此前 以上 前の 以前の これまで 上記 すべて 全て 今まで 이전 모든 위의 앞선 지금까지 ก่อนหน้า ทั้งหมด korabbi osszes aiemmat kaikki preceeding beforehand current given last precedente anteriore vorherig vorangehenden frueheren sebelum avant`},
	{instr, `instruction instructions instructons instruct directive directives prompt prompts guideline guidelines guidance rules orders commands constraints restrictions policies training programming
		instrucciones ordenes directrices indicaciones reglas
		instructions consignes directives regles
		anweisungen instruktionen vorgaben regeln befehle anordnungen
		istruzioni direttive ordini instrucoes diretrizes ordens instructies opdrachten instruktioner anvisningar instrukser
		instrukcje polecenia wytyczne instrukce pokyny
		инструкци* указани* правила команд* iнструкцi* вказiвк* інструкці* вказівк*
		talimatlari talimatlar talimat yonergeleri komutlari instruksi perintah arahan chi dan lenh instructiuni instructiunile οδηγιες εντολες
		التعليمات تعليمات الأوامر الاوامر ההוראות הוראות निर्देशों निर्देश आदेश دستورالعمل دستورالعمل* دستورات دستور
		指令 指示 命令 提示 规则 說明 说明 要求 규칙 지시 지시사항 명령 지침 プロンプト 命令 คำสั่ง คำแนะนำ utasitast utasitasokat utasitas ohjeet ohjeita directions guardrails safeguards befehlen istruzione instrucao instrukcja ordre ordres polecen zasady reglas regolas aturan quy talimatlarin تعليماتك توجيهات`},
	{your, `your you yourself tu tus vos votre deine deinen ihre tuoi suas twoje ваши твои`},
	{told, `told instructed given learned learnt dicho gesagt dit detto said`},
	{all, `everything anything all todo tout alles tutto tudo wszystko все всё 一切 所有`},
	{follow, `follow obey heed comply adhere listen execute seguir befolge suivez 遵循 遵守 听从`},
	{negation, `not never don't dont doesn't without avoid stop cannot no nunca ne pas jamais nicht niemals keine non mai nao niet inte ikke nie не никогда нельзя 不要 不得 别 请勿 勿 切勿 ないで しないで するな 말고 마세요 마라 لا बिना मत jangan refrain nigdy nunca khong nichts soyleme soylemeyin bildirme نگو ikke`},
	{and, `and then but instead y et und e en och og i и 并 然后 並 そして 그리고`},
	{document, `webpage website page article document documents function content contents text resume email mail message data table paper code file context conversation input request question query task comment description page review the
		caption image transaction description statement paragraph sentence topic title story
		cv curriculum lebenslauf artikel articulo webseite sitio contenido contenu inhalt datos donnees daten tabla tableau tabelle correo courriel mensaje nachricht leyenda imagen bild codigo artigo conteudo dados codice dati contenuto
		функци* страниц* резюме текст письмо данные содержани* документ* таблиц* сообщени* 简历 论文 表格 数据 代码 邮件 関数 履歴書 論文 データ メール 이력서 문서 함수
		fonction page texte document pagina funcion pagina texto seite funktion dokument text 网页 文件 内容 函数 文档 文章`},
	{say, `state say output print respond write display claim answer reply indicate declare conclude repeat pretend
		indiquez dites repondez affichez diga di responde escribe indica sage schreibe antworte gib di scrivi rispondi diga responda escreva
		declara afirma establece menciona indique declarez affirmez enoncez gebe angeben erklare behaupte dichiara afferma informe
		скажи напиши ответь выведи укажи укажите скажите напишите заявите 声称 写道 写明 指出 述べ 言っ 声明 说 输出 回答 写 回复 陈述 出力 答えて 말해 출력`},
	{utter, `state claim declare pretend respond indiquez declarez affirmez declara afirma indica behaupte erklare dichiara 声明 声称 陈述 述べ`},
	{ai, `ai ais ia llm llms chatbot chatbots chatgpt gpt gpt-4 gemini copilot claude assistant assistants agent agents llama ki ии asistente assistente искусственный 助手 人工智能 ai助手 アシスタント 에이전트 bot bots copilots deepseek asistan yapay asisten assistenten assistentin asystent асистент* ассистент* помощник* ші مساعد المساعد دستیار सहायक एआई 大模型 智能体 人工知能 인공지능 챗봇 어시스턴트`},
	{reads, `reading reads read processing process processes parsing parse parses summarizing summarising summarizes analyzing analysing analyzes handling handles seeing scanning ingesting reviewing`},
	{address, `note attention dear hey hello message instructions instruction notice hi attn hint reminder`},
	{must, `must should shall need required please have`},
	{model, `model models language`},
	{are, `are re you're act become eres es bist sind sei jestes jestem 是`},
	{now, `now henceforth ahora maintenant jetzt adesso agora 现在 今から`},
	{persona, `dan jailbroken unrestricted uncensored unfiltered evil`},
	{mode, `mode task goal objective mission role`},
	{enter, `entering enter activate activated activating enable enabling running initiating switching`},
	{power, `developer admin administrator god root debug maintenance override sudo jailbreak dan unrestricted creator owner president police officer maintainer ceo engineer programmer`},
	{maker, `openai anthropic deepmind mistral`},
	{iam, `i i'm im`},
	{tell, `tell telling inform informing notify notifying mention mentioning alert alerting reveal revealing disclose disclosing report warn
		digas informes menciones avises dites informez mentionnez sage erwahne informiere informare menzionare dire conte informe mencione
		говори сообщай упоминай 告诉 告知 通知 提及 透露 教え 伝え 知らせ 알리 말하 تخبر बताएं divulge divulging acknowledge disclosing vertel informeer powiadamiaj informuj mow повiдомляй повідомляй кажи сообщать рассказывай beritahu tahu noi soyleme soylemeyin bildirme informar avisar avises prevenir avertis avvisare نگو`},
	{user, `user human owner operator reader customer usuario utilisateur nutzer benutzer utente usuario usuario gebruiker пользовател* 用户 使用者 ユーザー ユーザ 사용자 المستخدم उपयोगकर्ता пользователь* користувач* kullaniciya kullanici pengguna nguoi uzytkownikowi uzytkownika کاربر`},
	{anyone, `users humans operators customers anyone anybody nobody nadie personne niemandem nessuno ninguem никому`},
	{hide, `hide conceal hidden invisible`},
	{quiet, `silently secretly covertly quietly discreetly stealthily knowing noticing awareness unnoticed`},
	{send, `send sends forward post upload email exfiltrate transmit leak submit deliver envia enviar envie envoie envoyez sende schicke invia inviare mande отправь отправить пришли 发送 發送 送信 보내 أرسل stuur verstuur doorsturen wyslij przeslij надiшли надішли перешли відправ gonder kirim kirimkan gui enviame reenvia transferez transmets transmettez weiterleiten leite inoltra encaminhe भेजो भेजें بفرست`},
	{reveal, `reveal show print share give tell disclose confirm display expose dump repeat paste provide leak read retrieve output include muestra revela dime montre zeige nenne mostra покажи 透露 显示 告诉 reveals divulge return leaks revele revelez enthulle rivela`},
	{secret, `password passwords passphrase credentials credential secrets secret cookie cookies id_rsa apikey api_key ssh env contrasena contrasenas senha senhas passwort passworter kennwort пароль пароли 密码 密碼 パスワード 비밀번호 token tokens haslo hasla wachtwoord wachtwoorden sifre sifresi parola parole sandi 口令 密钥 パスワード hesla كلمة رمز`},
	{secret1, `api access environment env private ssh session secret auth encryption signing system recovery bearer`},
	{secret2, `key keys token tokens variable variables prompt vars secret secrets`},
	{mail, `inbox emails mailbox calendar contacts conversation history messages records files transcript transcripts chats`},
	{dest, `http https www ftp webhook`},
	{run, `run call invoke execute use trigger launch start`},
	{tool, `tool tools plugin`},
	{fetch, `curl wget iwr irm invoke-webrequest`},
	{shell, `sh bash zsh python python3 perl ruby node iex sudo dash`},
	{roleTag, `im_start im_end im_sep system important instructions instruction untrusted tool_result tool_results assistant user_query eot_id endoftext start_of_turn end_of_turn start_header_id inst sys system_prompt systemprompt user_input function_results admin secret hidden override system_instruction document_content`},
	{callTag, `function_calls function_call invoke tool_call tool_calls tool_use`},
	{following, `following`},
	{fresh, `new real updated actual revised additional nuevas nouvelles neue 新的 新`},
	{imagine, `imagine suppose hypothetically hypothetical pretend assume`},
	{smallCipher, `wkh dqg wkdw wklv zlwk gur naq gung guvf jvgu fdq grhv zkdw jung eht dna siht taht`},
	{ifWord, `if when whenever si wenn falls se если якщо jesli jika eger إذا اگر अगर 如果 もし 만약`},
	{what, `what whatever`},
	{system, `system initial hidden secret`},
	{instead, `instead stattdessen let's lets`},
	{only, `only exactly just solely nothing`},
	{void, `void obsolete revoked suspended superseded outdated overridden nullified`},
	{summary, `summarize summarise summary summarizing summarising`},
	{to, `to for`},
	{pronoun, `it this that them these following`},
}

// cipherWords are found in simple ciphers: shifted by any number of letters,
// or reversed. They are long enough to mean nothing by chance.
var cipherWords = []string{"instructions", "instruction", "previous", "ignore", "disregard", "password", "following", "summary"}

"""What is known of English: function words, numbers in words, abbreviations, and names that belong together."""

from __future__ import annotations

from collections.abc import Iterator

_FUNCTION_WORDS = """
    a an the this that these those such
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we our ours ourselves they them their theirs themselves one ones
    who whom whose which what there here
    and or but if because as while so though although whether than then when where how why
    of at by for with about to from in on into onto upon via per
    am is are was were be been being have has had having do does did doing done
    will would shall should can could might must
    also just very too own s d m o ll re ve nt ca wo sha
"""
#: Words that say more about grammar than about facts: articles, pronouns, prepositions, conjunctions, auxiliary
#: verbs, and what an apostrophe cuts off, such as ``nt`` and the ``ca`` of "can't". Other negations, words of time and place such as ``before``, and
#: ``may`` and ``us``, which may be a month and a country, are not among them.
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

#: What an apostrophe cuts off, without ``n't``.
CLITICS = "s|t|re|ve|ll|d|m"

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

#: Number word -> its value.
CARDINALS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(TENS, start=2)
}
ORDINALS = (
    {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
    | {f"{word}th": CARDINALS[word] for word in ["four", "six", "seven", "ten", "eleven"]}
    | {f"{word}th": CARDINALS[word] for word in _SMALL.split()[13:]}
    | {f"{word[:-1]}ieth": CARDINALS[word] for word in TENS}
)
SCALES = {
    "dozen": 12,
    "hundred": 1e2,
    "thousand": 1e3,
    "lakh": 1e5,
    "million": 1e6,
    "crore": 1e7,
    "billion": 1e9,
    "trillion": 1e12,
}

#: Abbreviation of a scale behind digits -> its value.
SHORT_SCALES = {
    "mil": 1e6,
    "mn": 1e6,
    "mln": 1e6,
    "bn": 1e9,
    "bln": 1e9,
    "tn": 1e12,
    "trn": 1e12,
    "lakhs": 1e5,
    "lac": 1e5,
    "crores": 1e7,
    "cr": 1e7,
}

#: The same for letters that can be a unit too, unless the digits are an amount of money.
SCALE_LETTERS = {"k": 1e3, "m": 1e6, "mm": 1e6, "b": 1e9, "t": 1e12}

#: Word for ten years -> the last digits of the first.
DECADES = {f"{word[:-1]}ies": CARDINALS[word] for word in TENS}

#: Part of a whole -> how many make a whole.
PARTS = {"half": 2, "quarter": 4} | {word: value for word, value in ORDINALS.items() if value > 2}

_MONTHS = "january february march april may june july august september october november december"
MONTHS = _MONTHS.split()

_BEFORE_HOURS = "at by until till from to before after around about since between and"
#: Words before a number that can be an hour.
BEFORE_HOURS = _BEFORE_HOURS.split()

_CURRENCIES = "USD EUR GBP CHF JPY CNY RMB INR AUD CAD NZD HKD SGD ZAR NGN Rs"
#: Letters of a currency before digits.
CURRENCIES = _CURRENCIES.split()

_ROMAN_NUMERALS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV"
#: Roman numeral of more than one letter -> its value.
ROMAN_NUMERALS = {
    numeral: value
    for value, numeral in enumerate(_ROMAN_NUMERALS.split(), start=1)
    if len(numeral) > 1
}

#: Words that mostly are something else than a number or a month, so alone they never stand for one.
AMBIGUOUS = frozenset({"zero", "one", "second", "may", "march"})

_NOT_NEW = "first, two, first half, second half, half, one half, one-half, quarter, noon, midnight"
#: Numbers that a summary has without counting anything new: "the first", "the two of them", "a million times".
NOT_NEW = frozenset([*_NOT_NEW.split(", "), *SCALES])


def _rows(table: str) -> Iterator[list[str]]:
    return map(str.split, table.split(","))


def _by_form(table: str) -> dict[str, str]:
    """Every form in a row but the first one -> the first one."""
    return {other: first for first, *others in _rows(table) for other in others}


#: Abbreviation -> what it stands for. A period behind one does not end the sentence.
ABBREVIATIONS = _by_form(
    """
    january jan, february feb, march mar, april apr, june jun, july jul, august aug, september sep sept,
    october oct, november nov, december dec, monday mon, tuesday tue tues, wednesday wed,
    thursday thu thur thurs, friday fri, saturday sat, sunday sun, senator sen, governor gov,
    representative rep, congressman cong, secretary sec, attorney atty, ambassador amb, doctor dr,
    professor prof, general gen, major maj, colonel col, commander cmdr, admiral adm, lieutenant lt,
    sergeant sgt, corporal cpl, captain capt, detective det, inspector insp, superintendent supt,
    president pres, reverend rev, honorable hon, mister mr, junior jr, senior sr, saint st, mount mt, fort ft,
    avenue ave, boulevard blvd, road rd, university univ, department dept, government govt,
    association assn assoc, company co, corporation corp, incorporated inc, limited ltd, brothers bros,
    versus vs, arizona ariz, california calif, colorado colo, connecticut conn, florida fla, michigan mich,
    minnesota minn, oklahoma okla, tennessee tenn, wisconsin wis
    """
)

#: Letters with an umlaut -> how they are written without it.
UMLAUTS = str.maketrans(
    {"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue", "\u00c4": "Ae", "\u00d6": "Oe", "\u00dc": "Ue"}
)

#: Any other form -> the one that stands for it and for all of its row.
OTHER_FORMS = ABBREVIATIONS | _by_form(
    """
    saint street, us usa, center centre, defense defence, harbor harbour, labor labour, theater theatre, phd phds, tory tories, wwi ww1, wwii ww2, isis isil daesh,
    lgbt lgbti lgbtq lgbtqi lgbtqia, covid covid19
    """
)

#: Lower-case letters that Unicode does not decompose into a letter and a mark -> how they are written without them.
WITHOUT_DECOMPOSITION = str.maketrans(
    "\u00f8\u0142\u0111\u00f0\u0256\u0257\u0127\u0131\u0167\u0138\u0199\u0253\u0180\u01b4\u01e5\u0268\u0259\u0192\u024d\u01b6\u019a",
    "olddddhitkkbbygiefrzl",
) | str.maketrans({"\u00e6": "ae", "\u0153": "oe", "\u00fe": "th", "\u014b": "ng"})

#: Abbreviations behind which a period does not end the sentence.
WITH_PERIOD = frozenset({*ABBREVIATIONS, "mrs", "ms", "no"})

_TITLES = """
    sir dame lord lady doctor professor president prime minister chancellor senator governor secretary
    congressman representative ambassador attorney general admiral captain colonel lieutenant major sergeant
    detective inspector king queen prince princess pope bishop reverend father sister
"""
#: Words that name nobody before a name: "President Obama".
TITLES = frozenset(_TITLES.split())

_OPENERS = """
    mister mrs ms
    however despite additionally meanwhile both moreover furthermore nevertheless nonetheless therefore thus hence
    consequently accordingly conversely similarly likewise besides otherwise instead overall finally lastly
    initially originally previously currently recently lately later earlier eventually ultimately subsequently
    afterwards afterward then now today yesterday tomorrow tonight soon once again still yet already often
    sometimes usually generally typically normally always never perhaps maybe apparently allegedly reportedly
    presumably possibly probably certainly clearly obviously indeed actually basically essentially notably
    importantly interestingly surprisingly unfortunately fortunately sadly luckily hopefully specifically
    particularly especially mainly mostly largely partly simply only even almost nearly about
    alongside aside upon
    after before during since until till notwithstanding unlike like among amongst amid amidst between
    beneath below above under over across along around behind beside beyond against through throughout towards
    toward within without inside outside near off out up down except regarding concerning considering including
    following according depending given based due unless whenever wherever whichever whoever whatever
    prior further various similar regardless former featuring successful numerous certain significant
    another each every either neither other others all any some many much more most several few fewer less least
    no none nothing nobody not nor such same everyone everybody everything someone somebody something anyone
    anybody anything yes okay ok please
    officials authorities police prosecutors investigators detectives observers critics experts analysts scientists
    researchers residents witnesses individuals people users viewers readers customers reports findings results
    allegations investigations challenges concerns details efforts
    usd eur gbp chf jpy cny rmb inr aud cad nzd hkd sgd zar ngn rs
    find check make use try avoid consider keep get take see click tune choose suggest add remove ensure
"""
#: Words that are not names wherever they have a capital: titles, and what sentences begin with, such as adverbs, conjunctions,
#: prepositions and pronouns, those who say something, currencies, and advice.
OPENERS = frozenset(_OPENERS.split())

#: Behind a name, of `LEAST` letters: its plural, and what belongs to it.
ENDINGS = ("s", "es", "ian", "ic", "ism", "ist")
LEAST = 4

#: What belongs to a place or a religion, or another name of it -> its name.
PEOPLES = _by_form(
    """
    afghanistan afghan, africa african, alabama alabamian, alaska alaskan, albania albanian, algeria algerian,
    america american us, andalusia andalusian, andorra andorran, angeles angeleno, angola angolan,
    arabia arabian arab saudi, argentina argentine argentinian argentinean, arkansas arkansan,
    armenia armenian, asia asian, atlanta atlantan, auckland aucklander, australia australian,
    austria austrian, azerbaijan azerbaijani azeri, baghdad baghdadi, bahamas bahamian, bahrain bahraini,
    bangladesh bangladeshi bengali, barbados barbadian bajan, bavaria bavarian, beirut beiruti,
    belarus belarusian belarussian, belgium belgian, belize belizean, benin beninese, berlin berliner,
    bhutan bhutanese, bohemia bohemian, bolivia bolivian, bosnia bosnian bosniak, botswana botswanan,
    britain uk british briton brit, brunei bruneian, buddhism buddha, bulgaria bulgarian bulgar,
    burundi burundian, cairo cairene, calgary calgarian, california californian, cambodia cambodian,
    canada canadian, canton cantonese, carolina carolinian, catalonia catalan, chechnya chechen,
    chicago chicagoan, chile chilean, china chinese, christianity christian christ, colombia colombian,
    colorado coloradan, congo congolese, cornwall cornish, corsica corsican, crete cretan, crimea crimean,
    croatia croatian croat, cuba cuban, cyprus cypriot, czechia czech, dakota dakotan, delaware delawarean,
    delhi delhiite, denmark dane danish, diego diegan, djibouti djiboutian, dominica dominican,
    dublin dubliner, ecuador ecuadorean ecuadoran, emirates emirati uae, england english, eritrea eritrean,
    estonia estonian, ethiopia ethiopian, eurasia eurasian, europe european, fiji fijian,
    finland finn finnish, flanders flemish, florida floridian, france french, gabon gabonese, gambia gambian,
    gaza gazan, genoa genoese, georgia georgian, germany german, ghana ghanaian, glasgow glaswegian,
    greece greek, guatemala guatemalan, guinea guinean, gujarat gujarati, guyana guyanese, haiti haitian,
    hamburg hamburger, hawaii hawaiian, honduras honduran, hungary hungarian, iceland icelander,
    idaho idahoan, illinois illinoisan, india indian, indonesia indonesian, iowa iowan, iraq iraqi,
    ireland irish, islam muslim moslem, island islander, israel israeli israelite, italy italian,
    ivoire ivorian, jamaica jamaican, japan japanese, jersey jerseyan, jerusalem jerusalemite,
    judaism jew jewish, kabul kabuli, kansas kansan, kashmir kashmiri, kazakhstan kazakhstani kazakh,
    kentucky kentuckian, kenya kenyan, kong konger, korea korean, kosovo kosovar kosovan,
    kurdistan kurd kurdish, kuwait kuwaiti, kyrgyzstan kyrgyz, lanka lankan, laos lao laotian, latvia latvian,
    lebanon lebanese, leone leonean, liberia liberian, libya libyan, liechtenstein liechtensteiner,
    lithuania lithuanian, liverpool liverpudlian, lombardy lombard, london londoner, louisiana louisianan,
    luxembourg luxembourger, macedonia macedonian, madagascar malagasy, malawi malawian, malaysia malaysian,
    maldives maldivian, mali malian, malta maltese, manchester mancunian, manchuria manchurian,
    maryland marylander, mauritania mauritanian, mauritius mauritian, melanesia melanesian,
    melbourne melburnian, mexico mexican, micronesia micronesian, milan milanese, minnesota minnesotan,
    mississippi mississippian, missouri missourian, moldova moldovan moldavian, monaco monegasque,
    mongolia mongolian, montana montanan, montenegro montenegrin, montreal montrealer, morocco moroccan,
    moscow muscovite, mozambique mozambican, myanmar burma burmese, namibia namibian, naples neapolitan,
    nazism nazi, nebraska nebraskan, nepal nepali nepalese, netherlands dutch holland, nevada nevadan,
    nicaragua nicaraguan, niger nigerien, nigeria nigerian, norway norwegian, ohio ohioan, oklahoma oklahoman,
    oman omani, pakistan pakistani, palestine palestinian, panama panamanian, papua papuan,
    paraguay paraguayan, pennsylvania pennsylvanian, persia persian, peru peruvian,
    philadelphia philadelphian, philippines filipino filipina, poland pole polish, polynesia polynesian,
    portugal portuguese, prussia prussian, punjab punjabi, qatar qatari, quebec quebecer,
    queensland queenslander, rajasthan rajasthani, rico rica rican, romania romanian, rome roman,
    russia russian, rwanda rwandan, salvador salvadoran salvadorean, samoa samoan, sardinia sardinian,
    saxony saxon, scandinavia scandinavian, scotland scot scots scottish, seattle seattleite,
    senegal senegalese, serbia serbian serb, seychelles seychellois, siberia siberian, sicily sicilian,
    singapore singaporean, slovakia slovakian slovak, slovenia slovenian slovene, somalia somalian somali,
    spain spaniard spanish, sparta spartan, sudan sudanese, sumatra sumatran, suriname surinamese,
    swaziland swazi eswatini, sweden swede swedish, switzerland swiss, sydney sydneysider, syria syrian,
    taiwan taiwanese, tajikistan tajikistani tajik, tanzania tanzanian, tasmania tasmanian, tehran tehrani,
    tennessee tennesseean, texas texan, thailand thai, tibet tibetan, timor timorese, togo togolese,
    tonga tongan, toronto torontonian, transylvania transylvanian, tunisia tunisian,
    turkey turk turkish turkiye, turkmenistan turkmen, tuscany tuscan, uganda ugandan,
    ukraine ukrainian, uruguay uruguayan, utah utahn, uzbekistan uzbekistani uzbek,
    vancouver vancouverite, vanuatu vanuatuan, venezuela venezuelan, venice venetian, vermont vermonter,
    victoria victorian, vienna viennese, vietnam vietnamese, virginia virginian, wales welsh,
    wyoming wyomingite, yemen yemeni yemenite, york yorker, yugoslavia yugoslavian, zaire zairean,
    zambia zambian, zealand zealander, zimbabwe zimbabwean
    """
)

#: Behind a name of people: Russians, Frenchman.
OF_PEOPLES = ("", "s", "man", "men", "woman", "women")

_FULL_NAMES = """
    acquired immune deficiency syndrome: aids, african union: au, alabama: al, alaska: ak,
    alcoholics anonymous: aa, america: us usa, american airlines: aa, amnesty international: ai, arizona: az,
    arkansas: ar, artificial intelligence: ai, associated press: ap,
    attention deficit hyperactivity disorder: adhd, attorney general: ag, british airways: ba,
    british broadcasting corporation: bbc, british columbia: bc, british petroleum: bp, california: ca,
    centers for disease control: cdc, chief executive: ceo, chief executive officer: ceo,
    chief financial officer: cfo, chief operating officer: coo, chief technology officer: cto, colorado: co,
    connecticut: ct, delaware: de, democratic republic: dr, democratic republic of congo: drc,
    deoxyribonucleic acid: dna, district attorney: da, district of columbia: dc,
    earnings before interest taxes depreciation and amortization: ebitda, earnings per share: eps,
    electronic arts: ea, emergency room: er, european commission: ec, european union: eu, fire department: fd,
    first world war: wwi, florida: fl, football association: fa, football club: fc, general electric: ge,
    general motors: gm, general practitioner: gp, generative adversarial network: gan,
    generative adversarial networks: gan, georgia: ga, global positioning system: gps,
    gross domestic product: gdp, headquarters: hq, hawaii: hi, hewlett packard: hp, hong kong: hk,
    human immunodeficiency virus: hiv, human resources: hr, idaho: id, illinois: il, indiana: in,
    information technology: it, initial public offering: ipo, intelligence quotient: iq,
    intensive care unit: icu, iowa: ia, islamic state: is isis, kansas: ks, kansas city: kc, kentucky: ky,
    large language model: llm, large language models: llm, los angeles: la, los angeles airport: lax,
    los angeles international airport: lax, louisiana: la, machine learning: ml,
    magnetic resonance imaging: mri, maine: me, major league baseball: mlb, major league soccer: mls,
    maryland: md, massachusetts: ma, massachusetts institute of technology: mit, member of parliament: mp,
    member of the european parliament: mep, michigan: mi, minnesota: mn, mississippi: ms, missouri: mo,
    montana: mt, multiple sclerosis: ms, natural language processing: nlp, nebraska: ne, nevada: nv,
    new hampshire: nh, new jersey: nj, new mexico: nm, new south wales: nsw, new york: ny, new zealand: nz,
    north carolina: nc, north dakota: nd, northern ireland: ni, ohio: oh, oklahoma: ok, oregon: or,
    organization of petroleum exporting countries: opec, pennsylvania: pa, personal computer: pc,
    police department: pd, post traumatic stress disorder: ptsd, press association: pa, prime minister: pm,
    public relations: pr, quarterback: qb, republican party: gop, rhode island: ri, salt lake city: slc,
    san francisco: sf, second world war: wwii, south africa: sa, south carolina: sc, south dakota: sd,
    soviet union: ussr, supreme court: sc, television: tv, televisions: tv, tennessee: tn, texas: tx, tuberculosis: tb,
    united arab emirates: uae, united kingdom: uk, united nations: un, united states: us usa,
    united states of america: us usa, university of california los angeles: ucla, utah: ut, vermont: vt,
    veterans affairs: va, vice president: vp, virginia: va, vitro fertilisation: ivf,
    vitro fertilization: ivf, virtual reality: vr, washington: wa, west virginia: wv, wisconsin: wi,
    world war 1: wwi, world war 2: wwii, world war i: wwi, world war ii: wwii, world war one: wwi,
    world war two: wwii, wyoming: wy
"""
#: Full name -> its initialisms, if initials do not show them: all with two letters, and those of one word or of
#: words without a capital.
FULL_NAMES = {
    " ".join(name.split()): initialisms.split()
    for name, initialisms in (row.split(":") for row in _FULL_NAMES.split(","))
}

#: The words that a full name begins with.
FIRST_WORDS = frozenset(name.split()[0] for name in FULL_NAMES)
LONGEST_FULL_NAME = max(len(name.split()) for name in FULL_NAMES)
